/** What a call turned out to be and how it ended, as it is seen from outside. Nothing of what its caller may not see comes here. */
import { redactArguments } from '../../shared/redaction/redact-arguments.ts';
import { markedSchemaOf } from '../../shared/redaction/secret-marks.ts';
import { toEnding, type OperationFacts } from '../../telemetry/operation.ts';
import type { CallContext } from '../../upstream/protocol/call.ts';
import type { RelayedRequest, RoutedReply } from '../gateway.ts';
import type { Resolved } from '../resolve.ts';
import { failureCode } from '../server-failure.ts';

/** Its server is known, and its caller sees what is called. */
export function noteCalled(
  { operation }: CallContext,
  { method, params }: RelayedRequest,
  { server, name, item }: Resolved,
): void {
  if (!operation || operation.hasTarget) return;
  const facts: Partial<OperationFacts> = { server: server.name };
  if (method === 'tools/call') facts.tool = name;
  if (method === 'prompts/get') facts.prompt = name;
  if (method === 'resources/read') facts.uri = name;
  const given = operation.keepsContent ? params.get('arguments') : undefined;
  if (given !== undefined) {
    const { arguments: kept } = redactArguments(given, item && markedSchemaOf(item));
    facts.arguments = JSON.stringify(kept ?? {});
  }
  operation.is(facts);
}

/** It failed with this. */
export function noteFailed({ operation, signal }: CallContext, thrown: unknown): void {
  operation?.ends(signal.aborted ? { outcome: 'cancelled' } : toEnding(failureCode(thrown)));
}

/** It was answered; where its caller gets something else than that, so it ended. */
export function noteReplaced({ operation }: CallContext, routed: RoutedReply): RoutedReply {
  if (!operation) return routed;
  if (routed.isHit) operation.is({ isHit: true });
  return {
    ...routed,
    onReplaced(code) {
      operation.ends(toEnding(code));
      routed.onReplaced?.(code);
    },
  };
}
