import Foundation
import NIOCore

/// Descriptor sets and messages as `protoc` and Google's Python library write them, and what that library's JSON is.
///
/// The sources of the types follow; `protoc --descriptor_set_out=F --include_imports shop.proto` makes the sets.
/// ```proto
/// syntax = "proto3";
/// package shop.v1;
/// import "google/protobuf/timestamp.proto";
/// import "google/protobuf/duration.proto";
/// import "google/protobuf/wrappers.proto";
/// import "google/protobuf/struct.proto";
/// import "google/protobuf/any.proto";
/// import "google/protobuf/field_mask.proto";
/// import "google/protobuf/empty.proto";
///
/// enum State { STATE_UNSPECIFIED = 0; ACTIVE = 1; CLOSED = -1; }
///
/// message Item {
///   string sku = 1;
///   uint32 count = 2;
///   message Size { double width = 1; float height = 2; }
///   Size size = 3;
/// }
///
/// message Order {
///   int64 order_id = 1;
///   string customer_name = 2;
///   State state = 3;
///   repeated Item items = 4;
///   map<string, int32> stock = 5;
///   map<int64, Item> by_id = 6;
///   oneof payment { string card = 7; bytes token = 8; }
///   repeated sint32 deltas = 9;
///   repeated string tags = 10;
///   google.protobuf.Timestamp created_at = 11;
///   google.protobuf.Duration time_left = 12;
///   google.protobuf.Int64Value views = 13;
///   google.protobuf.StringValue note = 14;
///   google.protobuf.Struct extra = 15;
///   google.protobuf.Any detail = 16;
///   google.protobuf.FieldMask mask = 17;
///   google.protobuf.Empty nothing = 18;
///   optional bool gift = 19;
///   repeated State history = 20;
///   fixed32 f32 = 21;
///   fixed64 f64 = 22;
///   sfixed32 sf32 = 23;
///   sfixed64 sf64 = 24;
///   sint64 s64 = 25;
///   uint64 u64 = 26;
///   repeated double prices = 27;
///   Order parent = 28;
///   map<bool, State> flags = 29;
///   google.protobuf.BoolValue paid = 30;
/// }
///
/// message Ack { uint32 seq = 1; string text = 2; }
///
/// service Orders {
///   rpc Get (Item) returns (Order);
///   rpc Watch (stream Item) returns (stream Ack);
/// }
///
/// syntax = "proto2";
/// package legacy;
/// message Result {
///   required int32 code = 1;
///   repeated group Row = 2 { optional string name = 3; }
///   extensions 100 to 199;
/// }
/// extend Result { optional string trace_id = 100; }
/// ```
enum ProtobufFixtures {
    static func bytes(_ base64: String) -> ByteBuffer {
        ByteBuffer(bytes: Data(base64Encoded: base64) ?? Data())
    }

    static func base64(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString()
    }

    /// `shop.proto` with its imports.
    static let shop = bytes(
        """
        Cv8BCh9nb29nbGUvcHJvdG9idWYvdGltZXN0YW1wLnByb3RvEg9nb29nbGUucHJvdG9idWYiOwoJVGltZXN0YW1wEhgKB3NlY29u\
        ZHMYASABKANSB3NlY29uZHMSFAoFbmFub3MYAiABKAVSBW5hbm9zQoUBChNjb20uZ29vZ2xlLnByb3RvYnVmQg5UaW1lc3RhbXBQ\
        cm90b1ABWjJnb29nbGUuZ29sYW5nLm9yZy9wcm90b2J1Zi90eXBlcy9rbm93bi90aW1lc3RhbXBwYvgBAaICA0dQQqoCHkdvb2ds\
        ZS5Qcm90b2J1Zi5XZWxsS25vd25UeXBlc2IGcHJvdG8zCvsBCh5nb29nbGUvcHJvdG9idWYvZHVyYXRpb24ucHJvdG8SD2dvb2ds\
        ZS5wcm90b2J1ZiI6CghEdXJhdGlvbhIYCgdzZWNvbmRzGAEgASgDUgdzZWNvbmRzEhQKBW5hbm9zGAIgASgFUgVuYW5vc0KDAQoT\
        Y29tLmdvb2dsZS5wcm90b2J1ZkINRHVyYXRpb25Qcm90b1ABWjFnb29nbGUuZ29sYW5nLm9yZy9wcm90b2J1Zi90eXBlcy9rbm93\
        bi9kdXJhdGlvbnBi+AEBogIDR1BCqgIeR29vZ2xlLlByb3RvYnVmLldlbGxLbm93blR5cGVzYgZwcm90bzMKhgQKHmdvb2dsZS9w\
        cm90b2J1Zi93cmFwcGVycy5wcm90bxIPZ29vZ2xlLnByb3RvYnVmIiMKC0RvdWJsZVZhbHVlEhQKBXZhbHVlGAEgASgBUgV2YWx1\
        ZSIiCgpGbG9hdFZhbHVlEhQKBXZhbHVlGAEgASgCUgV2YWx1ZSIiCgpJbnQ2NFZhbHVlEhQKBXZhbHVlGAEgASgDUgV2YWx1ZSIj\
        CgtVSW50NjRWYWx1ZRIUCgV2YWx1ZRgBIAEoBFIFdmFsdWUiIgoKSW50MzJWYWx1ZRIUCgV2YWx1ZRgBIAEoBVIFdmFsdWUiIwoL\
        VUludDMyVmFsdWUSFAoFdmFsdWUYASABKA1SBXZhbHVlIiEKCUJvb2xWYWx1ZRIUCgV2YWx1ZRgBIAEoCFIFdmFsdWUiIwoLU3Ry\
        aW5nVmFsdWUSFAoFdmFsdWUYASABKAlSBXZhbHVlIiIKCkJ5dGVzVmFsdWUSFAoFdmFsdWUYASABKAxSBXZhbHVlQoMBChNjb20u\
        Z29vZ2xlLnByb3RvYnVmQg1XcmFwcGVyc1Byb3RvUAFaMWdvb2dsZS5nb2xhbmcub3JnL3Byb3RvYnVmL3R5cGVzL2tub3duL3dy\
        YXBwZXJzcGL4AQGiAgNHUEKqAh5Hb29nbGUuUHJvdG9idWYuV2VsbEtub3duVHlwZXNiBnByb3RvMwriBQocZ29vZ2xlL3Byb3Rv\
        YnVmL3N0cnVjdC5wcm90bxIPZ29vZ2xlLnByb3RvYnVmIpgBCgZTdHJ1Y3QSOwoGZmllbGRzGAEgAygLMiMuZ29vZ2xlLnByb3Rv\
        YnVmLlN0cnVjdC5GaWVsZHNFbnRyeVIGZmllbGRzGlEKC0ZpZWxkc0VudHJ5EhAKA2tleRgBIAEoCVIDa2V5EiwKBXZhbHVlGAIg\
        ASgLMhYuZ29vZ2xlLnByb3RvYnVmLlZhbHVlUgV2YWx1ZToCOAEisgIKBVZhbHVlEjsKCm51bGxfdmFsdWUYASABKA4yGi5nb29n\
        bGUucHJvdG9idWYuTnVsbFZhbHVlSABSCW51bGxWYWx1ZRIjCgxudW1iZXJfdmFsdWUYAiABKAFIAFILbnVtYmVyVmFsdWUSIwoM\
        c3RyaW5nX3ZhbHVlGAMgASgJSABSC3N0cmluZ1ZhbHVlEh8KCmJvb2xfdmFsdWUYBCABKAhIAFIJYm9vbFZhbHVlEjwKDHN0cnVj\
        dF92YWx1ZRgFIAEoCzIXLmdvb2dsZS5wcm90b2J1Zi5TdHJ1Y3RIAFILc3RydWN0VmFsdWUSOwoKbGlzdF92YWx1ZRgGIAEoCzIa\
        Lmdvb2dsZS5wcm90b2J1Zi5MaXN0VmFsdWVIAFIJbGlzdFZhbHVlQgYKBGtpbmQiOwoJTGlzdFZhbHVlEi4KBnZhbHVlcxgBIAMo\
        CzIWLmdvb2dsZS5wcm90b2J1Zi5WYWx1ZVIGdmFsdWVzKhsKCU51bGxWYWx1ZRIOCgpOVUxMX1ZBTFVFEABCfwoTY29tLmdvb2ds\
        ZS5wcm90b2J1ZkILU3RydWN0UHJvdG9QAVovZ29vZ2xlLmdvbGFuZy5vcmcvcHJvdG9idWYvdHlwZXMva25vd24vc3RydWN0cGL4\
        AQGiAgNHUEKqAh5Hb29nbGUuUHJvdG9idWYuV2VsbEtub3duVHlwZXNiBnByb3RvMwrkAQoZZ29vZ2xlL3Byb3RvYnVmL2FueS5w\
        cm90bxIPZ29vZ2xlLnByb3RvYnVmIjYKA0FueRIZCgh0eXBlX3VybBgBIAEoCVIHdHlwZVVybBIUCgV2YWx1ZRgCIAEoDFIFdmFs\
        dWVCdgoTY29tLmdvb2dsZS5wcm90b2J1ZkIIQW55UHJvdG9QAVosZ29vZ2xlLmdvbGFuZy5vcmcvcHJvdG9idWYvdHlwZXMva25v\
        d24vYW55cGKiAgNHUEKqAh5Hb29nbGUuUHJvdG9idWYuV2VsbEtub3duVHlwZXNiBnByb3RvMwrmAQogZ29vZ2xlL3Byb3RvYnVm\
        L2ZpZWxkX21hc2sucHJvdG8SD2dvb2dsZS5wcm90b2J1ZiIhCglGaWVsZE1hc2sSFAoFcGF0aHMYASADKAlSBXBhdGhzQoUBChNj\
        b20uZ29vZ2xlLnByb3RvYnVmQg5GaWVsZE1hc2tQcm90b1ABWjJnb29nbGUuZ29sYW5nLm9yZy9wcm90b2J1Zi90eXBlcy9rbm93\
        bi9maWVsZG1hc2twYvgBAaICA0dQQqoCHkdvb2dsZS5Qcm90b2J1Zi5XZWxsS25vd25UeXBlc2IGcHJvdG8zCr4BChtnb29nbGUv\
        cHJvdG9idWYvZW1wdHkucHJvdG8SD2dvb2dsZS5wcm90b2J1ZiIHCgVFbXB0eUJ9ChNjb20uZ29vZ2xlLnByb3RvYnVmQgpFbXB0\
        eVByb3RvUAFaLmdvb2dsZS5nb2xhbmcub3JnL3Byb3RvYnVmL3R5cGVzL2tub3duL2VtcHR5cGL4AQGiAgNHUEKqAh5Hb29nbGUu\
        UHJvdG9idWYuV2VsbEtub3duVHlwZXNiBnByb3RvMwrnDgoKc2hvcC5wcm90bxIHc2hvcC52MRofZ29vZ2xlL3Byb3RvYnVmL3Rp\
        bWVzdGFtcC5wcm90bxoeZ29vZ2xlL3Byb3RvYnVmL2R1cmF0aW9uLnByb3RvGh5nb29nbGUvcHJvdG9idWYvd3JhcHBlcnMucHJv\
        dG8aHGdvb2dsZS9wcm90b2J1Zi9zdHJ1Y3QucHJvdG8aGWdvb2dsZS9wcm90b2J1Zi9hbnkucHJvdG8aIGdvb2dsZS9wcm90b2J1\
        Zi9maWVsZF9tYXNrLnByb3RvGhtnb29nbGUvcHJvdG9idWYvZW1wdHkucHJvdG8ijAEKBEl0ZW0SEAoDc2t1GAEgASgJUgNza3US\
        FAoFY291bnQYAiABKA1SBWNvdW50EiYKBHNpemUYAyABKAsyEi5zaG9wLnYxLkl0ZW0uU2l6ZVIEc2l6ZRo0CgRTaXplEhQKBXdp\
        ZHRoGAEgASgBUgV3aWR0aBIWCgZoZWlnaHQYAiABKAJSBmhlaWdodCKXCgoFT3JkZXISGQoIb3JkZXJfaWQYASABKANSB29yZGVy\
        SWQSIwoNY3VzdG9tZXJfbmFtZRgCIAEoCVIMY3VzdG9tZXJOYW1lEiQKBXN0YXRlGAMgASgOMg4uc2hvcC52MS5TdGF0ZVIFc3Rh\
        dGUSIwoFaXRlbXMYBCADKAsyDS5zaG9wLnYxLkl0ZW1SBWl0ZW1zEi8KBXN0b2NrGAUgAygLMhkuc2hvcC52MS5PcmRlci5TdG9j\
        a0VudHJ5UgVzdG9jaxItCgVieV9pZBgGIAMoCzIYLnNob3AudjEuT3JkZXIuQnlJZEVudHJ5UgRieUlkEhQKBGNhcmQYByABKAlI\
        AFIEY2FyZBIWCgV0b2tlbhgIIAEoDEgAUgV0b2tlbhIWCgZkZWx0YXMYCSADKBFSBmRlbHRhcxISCgR0YWdzGAogAygJUgR0YWdz\
        EjkKCmNyZWF0ZWRfYXQYCyABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wUgljcmVhdGVkQXQSNgoJdGltZV9sZWZ0GAwg\
        ASgLMhkuZ29vZ2xlLnByb3RvYnVmLkR1cmF0aW9uUgh0aW1lTGVmdBIxCgV2aWV3cxgNIAEoCzIbLmdvb2dsZS5wcm90b2J1Zi5J\
        bnQ2NFZhbHVlUgV2aWV3cxIwCgRub3RlGA4gASgLMhwuZ29vZ2xlLnByb3RvYnVmLlN0cmluZ1ZhbHVlUgRub3RlEi0KBWV4dHJh\
        GA8gASgLMhcuZ29vZ2xlLnByb3RvYnVmLlN0cnVjdFIFZXh0cmESLAoGZGV0YWlsGBAgASgLMhQuZ29vZ2xlLnByb3RvYnVmLkFu\
        eVIGZGV0YWlsEi4KBG1hc2sYESABKAsyGi5nb29nbGUucHJvdG9idWYuRmllbGRNYXNrUgRtYXNrEjAKB25vdGhpbmcYEiABKAsy\
        Fi5nb29nbGUucHJvdG9idWYuRW1wdHlSB25vdGhpbmcSFwoEZ2lmdBgTIAEoCEgBUgRnaWZ0iAEBEigKB2hpc3RvcnkYFCADKA4y\
        Di5zaG9wLnYxLlN0YXRlUgdoaXN0b3J5EhAKA2YzMhgVIAEoB1IDZjMyEhAKA2Y2NBgWIAEoBlIDZjY0EhIKBHNmMzIYFyABKA9S\
        BHNmMzISEgoEc2Y2NBgYIAEoEFIEc2Y2NBIQCgNzNjQYGSABKBJSA3M2NBIQCgN1NjQYGiABKARSA3U2NBIWCgZwcmljZXMYGyAD\
        KAFSBnByaWNlcxImCgZwYXJlbnQYHCABKAsyDi5zaG9wLnYxLk9yZGVyUgZwYXJlbnQSLwoFZmxhZ3MYHSADKAsyGS5zaG9wLnYx\
        Lk9yZGVyLkZsYWdzRW50cnlSBWZsYWdzEi4KBHBhaWQYHiABKAsyGi5nb29nbGUucHJvdG9idWYuQm9vbFZhbHVlUgRwYWlkGjgK\
        ClN0b2NrRW50cnkSEAoDa2V5GAEgASgJUgNrZXkSFAoFdmFsdWUYAiABKAVSBXZhbHVlOgI4ARpGCglCeUlkRW50cnkSEAoDa2V5\
        GAEgASgDUgNrZXkSIwoFdmFsdWUYAiABKAsyDS5zaG9wLnYxLkl0ZW1SBXZhbHVlOgI4ARpICgpGbGFnc0VudHJ5EhAKA2tleRgB\
        IAEoCFIDa2V5EiQKBXZhbHVlGAIgASgOMg4uc2hvcC52MS5TdGF0ZVIFdmFsdWU6AjgBQgkKB3BheW1lbnRCBwoFX2dpZnQiKwoD\
        QWNrEhAKA3NlcRgBIAEoDVIDc2VxEhIKBHRleHQYAiABKAlSBHRleHQqPwoFU3RhdGUSFQoRU1RBVEVfVU5TUEVDSUZJRUQQABIK\
        CgZBQ1RJVkUQARITCgZDTE9TRUQQ////////////ATJYCgZPcmRlcnMSJAoDR2V0Eg0uc2hvcC52MS5JdGVtGg4uc2hvcC52MS5P\
        cmRlchIoCgVXYXRjaBINLnNob3AudjEuSXRlbRoMLnNob3AudjEuQWNrKAEwAWIGcHJvdG8z
        """
    )

    /// `shop.proto` without `--include_imports`.
    static let shopAlone = bytes(
        """
        CucOCgpzaG9wLnByb3RvEgdzaG9wLnYxGh9nb29nbGUvcHJvdG9idWYvdGltZXN0YW1wLnByb3RvGh5nb29nbGUvcHJvdG9idWYv\
        ZHVyYXRpb24ucHJvdG8aHmdvb2dsZS9wcm90b2J1Zi93cmFwcGVycy5wcm90bxocZ29vZ2xlL3Byb3RvYnVmL3N0cnVjdC5wcm90\
        bxoZZ29vZ2xlL3Byb3RvYnVmL2FueS5wcm90bxogZ29vZ2xlL3Byb3RvYnVmL2ZpZWxkX21hc2sucHJvdG8aG2dvb2dsZS9wcm90\
        b2J1Zi9lbXB0eS5wcm90byKMAQoESXRlbRIQCgNza3UYASABKAlSA3NrdRIUCgVjb3VudBgCIAEoDVIFY291bnQSJgoEc2l6ZRgD\
        IAEoCzISLnNob3AudjEuSXRlbS5TaXplUgRzaXplGjQKBFNpemUSFAoFd2lkdGgYASABKAFSBXdpZHRoEhYKBmhlaWdodBgCIAEo\
        AlIGaGVpZ2h0IpcKCgVPcmRlchIZCghvcmRlcl9pZBgBIAEoA1IHb3JkZXJJZBIjCg1jdXN0b21lcl9uYW1lGAIgASgJUgxjdXN0\
        b21lck5hbWUSJAoFc3RhdGUYAyABKA4yDi5zaG9wLnYxLlN0YXRlUgVzdGF0ZRIjCgVpdGVtcxgEIAMoCzINLnNob3AudjEuSXRl\
        bVIFaXRlbXMSLwoFc3RvY2sYBSADKAsyGS5zaG9wLnYxLk9yZGVyLlN0b2NrRW50cnlSBXN0b2NrEi0KBWJ5X2lkGAYgAygLMhgu\
        c2hvcC52MS5PcmRlci5CeUlkRW50cnlSBGJ5SWQSFAoEY2FyZBgHIAEoCUgAUgRjYXJkEhYKBXRva2VuGAggASgMSABSBXRva2Vu\
        EhYKBmRlbHRhcxgJIAMoEVIGZGVsdGFzEhIKBHRhZ3MYCiADKAlSBHRhZ3MSOQoKY3JlYXRlZF9hdBgLIAEoCzIaLmdvb2dsZS5w\
        cm90b2J1Zi5UaW1lc3RhbXBSCWNyZWF0ZWRBdBI2Cgl0aW1lX2xlZnQYDCABKAsyGS5nb29nbGUucHJvdG9idWYuRHVyYXRpb25S\
        CHRpbWVMZWZ0EjEKBXZpZXdzGA0gASgLMhsuZ29vZ2xlLnByb3RvYnVmLkludDY0VmFsdWVSBXZpZXdzEjAKBG5vdGUYDiABKAsy\
        HC5nb29nbGUucHJvdG9idWYuU3RyaW5nVmFsdWVSBG5vdGUSLQoFZXh0cmEYDyABKAsyFy5nb29nbGUucHJvdG9idWYuU3RydWN0\
        UgVleHRyYRIsCgZkZXRhaWwYECABKAsyFC5nb29nbGUucHJvdG9idWYuQW55UgZkZXRhaWwSLgoEbWFzaxgRIAEoCzIaLmdvb2ds\
        ZS5wcm90b2J1Zi5GaWVsZE1hc2tSBG1hc2sSMAoHbm90aGluZxgSIAEoCzIWLmdvb2dsZS5wcm90b2J1Zi5FbXB0eVIHbm90aGlu\
        ZxIXCgRnaWZ0GBMgASgISAFSBGdpZnSIAQESKAoHaGlzdG9yeRgUIAMoDjIOLnNob3AudjEuU3RhdGVSB2hpc3RvcnkSEAoDZjMy\
        GBUgASgHUgNmMzISEAoDZjY0GBYgASgGUgNmNjQSEgoEc2YzMhgXIAEoD1IEc2YzMhISCgRzZjY0GBggASgQUgRzZjY0EhAKA3M2\
        NBgZIAEoElIDczY0EhAKA3U2NBgaIAEoBFIDdTY0EhYKBnByaWNlcxgbIAMoAVIGcHJpY2VzEiYKBnBhcmVudBgcIAEoCzIOLnNo\
        b3AudjEuT3JkZXJSBnBhcmVudBIvCgVmbGFncxgdIAMoCzIZLnNob3AudjEuT3JkZXIuRmxhZ3NFbnRyeVIFZmxhZ3MSLgoEcGFp\
        ZBgeIAEoCzIaLmdvb2dsZS5wcm90b2J1Zi5Cb29sVmFsdWVSBHBhaWQaOAoKU3RvY2tFbnRyeRIQCgNrZXkYASABKAlSA2tleRIU\
        CgV2YWx1ZRgCIAEoBVIFdmFsdWU6AjgBGkYKCUJ5SWRFbnRyeRIQCgNrZXkYASABKANSA2tleRIjCgV2YWx1ZRgCIAEoCzINLnNo\
        b3AudjEuSXRlbVIFdmFsdWU6AjgBGkgKCkZsYWdzRW50cnkSEAoDa2V5GAEgASgIUgNrZXkSJAoFdmFsdWUYAiABKA4yDi5zaG9w\
        LnYxLlN0YXRlUgV2YWx1ZToCOAFCCQoHcGF5bWVudEIHCgVfZ2lmdCIrCgNBY2sSEAoDc2VxGAEgASgNUgNzZXESEgoEdGV4dBgC\
        IAEoCVIEdGV4dCo/CgVTdGF0ZRIVChFTVEFURV9VTlNQRUNJRklFRBAAEgoKBkFDVElWRRABEhMKBkNMT1NFRBD///////////8B\
        MlgKBk9yZGVycxIkCgNHZXQSDS5zaG9wLnYxLkl0ZW0aDi5zaG9wLnYxLk9yZGVyEigKBVdhdGNoEg0uc2hvcC52MS5JdGVtGgwu\
        c2hvcC52MS5BY2soATABYgZwcm90bzM=
        """
    )

    /// `legacy.proto`: proto2, with a group and an extension.
    static let legacy = bytes(
        """
        CqcBCgxsZWdhY3kucHJvdG8SBmxlZ2FjeSJkCgZSZXN1bHQSEgoEY29kZRgBIAIoBVIEY29kZRIkCgNyb3cYAiADKAoyEi5sZWdh\
        Y3kuUmVzdWx0LlJvd1IDcm93GhkKA1JvdxISCgRuYW1lGAMgASgJUgRuYW1lKgUIZBDIATopCgh0cmFjZV9pZBIOLmxlZ2FjeS5S\
        ZXN1bHQYZCABKAlSB3RyYWNlSWQ=
        """
    )

    /// A `shop.v1.Order` that has every field.
    static let order = bytes(
        """
        CPn//////////wESDlpvw6sgIlEiChtbMzFtGP///////////wEiFwoDQS0xEAMaDgkAAAAAAAAEQBXNzMw9IgAqBQoBeBAFKg4K\
        AXkQ+///////////ATITCPf//////////wESBgoEbmluZToENDExMUoEAQTXBFIBYVIBYloLCMnFhtgGEIDlmndiFgj/////////\
        //8BEIC2ypH+/////wFqAggMcgB6TgoHCgFiEgIgAQogCgFsEhsyGQoJEQAAAAAAAPA/CgwqCgoICgFrEgMaAXYKDgoBbhIJEQAA\
        AAAAAPg/CggKAXMSAxoBdAoHCgF6EgIIAIIBKQofdHlwZS5nb29nbGVhcGlzLmNvbS9zaG9wLnYxLkFjaxIGCAkSAm9rigEVCghv\
        cmRlcl9pZAoJaXRlbXMuc2t1kgEAmAEAogEMAf///////////wEHrQEFAAAAsQEAAAAAAAAAgL0B+////8EB+v/////////IAf//\
        ////////f9AB////////////AdoBIAAAAAAAAPQ/AAAAAAAA+H8AAAAAAADw/5x1AIg85Dd+4gEGEgRyb2906gEECAEQAeoBBAgA\
        EADyAQA=
        """
    )

    /// The same as JSON.
    static let orderJSON = #"""
        {
          "orderId": "-7",
          "customerName": "Zoë \"Q\"\n\u001b[31m",
          "state": "CLOSED",
          "items": [
            {
              "sku": "A-1",
              "count": 3,
              "size": {
                "width": 2.5,
                "height": 0.1
              }
            },
            {}
          ],
          "stock": {
            "y": -5,
            "x": 5
          },
          "byId": {
            "-9": {
              "sku": "nine"
            }
          },
          "card": "4111",
          "deltas": [
            -1,
            2,
            -300
          ],
          "tags": [
            "a",
            "b"
          ],
          "createdAt": "2026-11-21T13:55:21.250Z",
          "timeLeft": "-1.500s",
          "views": "12",
          "note": "",
          "extra": {
            "s": "t",
            "l": [
              1.0,
              {
                "k": "v"
              }
            ],
            "z": null,
            "n": 1.5,
            "b": true
          },
          "detail": {
            "@type": "type.googleapis.com/shop.v1.Ack",
            "seq": 9,
            "text": "ok"
          },
          "mask": "orderId,items.sku",
          "nothing": {},
          "gift": false,
          "history": [
            "ACTIVE",
            "CLOSED",
            7
          ],
          "f32": 5,
          "f64": "9223372036854775808",
          "sf32": -5,
          "sf64": "-6",
          "s64": "-4611686018427387904",
          "u64": "18446744073709551615",
          "prices": [
            1.25,
            "NaN",
            "-Infinity",
            1e+300
          ],
          "parent": {
            "customerName": "root"
          },
          "flags": {
            "false": "STATE_UNSPECIFIED",
            "true": "ACTIVE"
          },
          "paid": false
        }
        """#

    /// A `legacy.Result`.
    static let result = bytes(
        """
        CAUTGgVmaXJzdBQTGgZzZWNvbmQUogYDdC0x
        """
    )

    /// The same as JSON.
    static let resultJSON = #"""
        {
          "code": 5,
          "row": [
            {
              "name": "first"
            },
            {
              "name": "second"
            }
          ],
          "[legacy.trace_id]": "t-1"
        }
        """#

    /// A `shop.v1.Order` with a `Timestamp` in its `Any`.
    static let anyTimestamp = bytes(
        """
        ggE8Ci10eXBlLmdvb2dsZWFwaXMuY29tL2dvb2dsZS5wcm90b2J1Zi5UaW1lc3RhbXASCwj///////////8B
        """
    )

    /// The same as JSON.
    static let anyTimestampJSON = #"""
        {
          "detail": {
            "@type": "type.googleapis.com/google.protobuf.Timestamp",
            "value": "1969-12-31T23:59:59Z"
          }
        }
        """#
}
