/// For the help of commands with a filter.
enum FilterHelp {
    static let text = """
        FILTER is terms that must all hold; a bare word is looked for in the URL. 'sluice guide filters' lists the terms:
          host:*.example.com status:>=400
          method:POST not path:/health
          time:>500ms or size:>1mb
          res.json.error.code:42 req.header.x-tenant:acme
        """
}
