/**
 * A strict schema of what a collector accepts: the JSON encoding of `ExportTraceServiceRequest`. It is also strict where the encoding
 * leaves us a choice, so that a wrong name or type is found.
 *
 * Source: opentelemetry-proto, docs/specification.md, "JSON Protobuf Encoding" (ids as hex digits, enums as integers, names in lower camel
 * case, 64-bit integers as decimal strings), and the messages of opentelemetry/proto/{common,resource,trace,collector/trace}/v1.
 */
import { z } from 'zod';

const ns = z.string().regex(/^\d{1,20}$/);
const uint32 = z.number().int().min(0).max(4_294_967_295);
const AnyValue = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ boolValue: z.boolean() }),
  z.strictObject({ intValue: z.string().regex(/^-?\d{1,19}$/) }),
  z.strictObject({ doubleValue: z.number() }),
]);
const KeyValue = z.strictObject({ key: z.string().min(1), value: AnyValue });
/** Keys are unique in a list of attributes. */
const attributes = z
  .array(KeyValue)
  .refine(list => new Set(list.map(({ key }) => key)).size === list.length);

const ids = {
  traceId: z.string().regex(/^(?!0{32})[0-9a-fA-F]{32}$/),
  spanId: z.string().regex(/^(?!0{16})[0-9a-fA-F]{16}$/),
};
const Span = z.strictObject({
  ...ids,
  traceState: z.string().optional(),
  parentSpanId: z
    .string()
    .regex(/^[0-9a-fA-F]{16}$/)
    .optional(),
  flags: uint32.optional(),
  name: z.string().min(1),
  kind: z.number().int().min(0).max(5),
  startTimeUnixNano: ns,
  endTimeUnixNano: ns,
  attributes: attributes.optional(),
  droppedAttributesCount: uint32.optional(),
  links: z.array(z.strictObject(ids)).optional(),
  status: z.strictObject({
    message: z.string().optional(),
    code: z.number().int().min(0).max(2).optional(),
  }),
});

export const ExportTraceServiceRequest = z.strictObject({
  resourceSpans: z
    .array(
      z.strictObject({
        resource: z.strictObject({ attributes, droppedAttributesCount: uint32.optional() }),
        scopeSpans: z
          .array(
            z.strictObject({
              scope: z.strictObject({ name: z.string(), version: z.string().optional() }),
              spans: z.array(Span).min(1),
              schemaUrl: z.string().optional(),
            }),
          )
          .min(1),
        schemaUrl: z.string().optional(),
      }),
    )
    .min(1),
});
