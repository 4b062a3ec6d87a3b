/**
 * Writes traces in OpenTelemetry's format: one `ExportTraceServiceRequest` in the JSON encoding of OTLP. Pure.
 *
 * Source: opentelemetry-proto, docs/specification.md ("JSON Protobuf Encoding": ids as hex, enums as integers, names in
 * lower camel case, 64-bit integers as decimal strings) and opentelemetry/proto/{trace,common,resource}/v1/*.proto.
 */
import { IMPLEMENTATION } from '../shared/protocol.ts';
import type { FinishedSpan, FinishedTrace } from './trace.ts';

/** `Span.SpanKind` of trace.proto. */
const KIND = { internal: 1, server: 2, client: 3 } as const;
/** `Status.StatusCode` of trace.proto. */
const STATUS_ERROR = 2;
/** Prefix of our own attribute names, which keeps them apart from those of the semantic conventions. */
const NAMESPACE = 'portico.';

/** Returns the body of `POST /v1/traces`. */
export function toOtlp(traces: readonly FinishedTrace[]) {
  const { name, version } = IMPLEMENTATION;
  return {
    resourceSpans: [
      {
        resource: {
          attributes: [
            { key: 'service.name', value: { stringValue: name } },
            { key: 'service.version', value: { stringValue: version } },
          ],
        },
        scopeSpans: [
          {
            scope: { name, version },
            spans: traces.flatMap(trace =>
              trace.spans.map((span, at) => toSpan(trace, span, at === 0)),
            ),
          },
        ],
      },
    ],
  };
}

function toSpan(
  { traceId, endedAt, droppedSpans }: FinishedTrace,
  span: FinishedSpan,
  isRoot: boolean,
) {
  const { parentSpanId, decision, error, kind = isRoot ? 'server' : 'internal', link } = span;
  const own: [string, string | number | boolean | undefined][] = [
    ['decision', decision],
    ['error', error],
    ['unfinished', span.endedAt === undefined ? true : undefined],
    ['dropped_spans', isRoot && droppedSpans > 0 ? droppedSpans : undefined],
  ];
  return {
    traceId,
    spanId: span.spanId,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    name: span.name,
    kind: KIND[kind],
    startTimeUnixNano: toNanoseconds(span.startedAt),
    endTimeUnixNano: toNanoseconds(span.endedAt ?? endedAt),
    attributes: [...Object.entries(span.attributes), ...own].flatMap(([key, value]) =>
      value === undefined ? [] : [{ key: toKey(key), value: toValue(value) }],
    ),
    droppedAttributesCount: span.droppedAttributes,
    ...(link ? { links: [{ traceId: link.traceId, spanId: link.spanId }] } : {}),
    status: error === undefined ? {} : { code: STATUS_ERROR, message: error },
  };
}

/** A key that already has a namespace keeps it. */
const toKey = (key: string): string => (key.includes('.') ? key : `${NAMESPACE}${key}`);

/** `AnyValue` of common.proto. */
function toValue(value: string | number | boolean) {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** Milliseconds as the decimal digits of nanoseconds, which exceed the exact range of a number. */
const toNanoseconds = (milliseconds: number): string =>
  String(BigInt(Math.round(milliseconds)) * 1_000_000n);
