import Content

/// The facts of an image, and a small preview if the terminal can show it.
struct ImageView {
    let header: ImageHeader
    let body: LoadedBody

    func write(into writer: inout DetailWriter) {
        var facts = ["\(header.format.rawValue) image"]
        if header.width > 0, header.height > 0 { facts.append("\(header.width) × \(header.height) pixels") }
        if !header.remark.isEmpty { facts.append(header.remark) }
        writer.add(facts.joined(separator: ", "))
        guard writer.options.showsPreview, writer.options.isUnicode else { return }
        guard Thumbnail.formats.contains(header.format) else {
            return writer.add("(no preview of \(header.format.rawValue) images)", .faint)
        }
        guard !body.isCut else { return writer.add("(no preview: more than the bytes looked at)", .faint) }
        let width = max(8, min(120, writer.options.width - writer.margin - 2))
        do {
            let budget = writer.budget
            let image = try Thumbnail(body.bytes, header.format, maximumWidth: width, maximumHeight: 96) {
                !budget.isSpent
            }
            writer.gap()
            PalettePreview(image: image).write(into: &writer)
            if image.isCut { writer.add("(the image ends early)", .warning) }
        } catch {
            writer.add("(no preview: \(error))", .faint)
        }
    }
}
