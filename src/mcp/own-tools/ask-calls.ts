/**
 * Answers calls of `ask` on an endpoint that lists it, within what the endpoint reaches. Bad arguments, and a model that is missing or
 * fails, give a result that a model can read; so does a refused plan.
 */
import type { RequestContext } from '../request-context.ts';
import { AskSchema, toAskText, type AskOutcome } from '../../agents/ask/ask-schema.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { noteFailed } from '../../gateway/steps/observe.ts';
import type { Era, RpcRequest } from '../../shared/protocol.ts';
import { ASK_NAME } from './ask-tool.ts';
import { ownFailureText, ownResultText, parseOwn, traceparentOf } from './own-tools.ts';

const READABLE: ReadonlySet<string> = new Set([
  'invalid_params',
  'model_missing',
  'model_failed',
  'model_budget',
]);

/** @returns the raw result @throws PorticoError `forbidden`, and errors that concern neither the arguments nor the model */
export async function answerAsk(
  requestContext: RequestContext,
  request: RpcRequest,
  source: Era,
): Promise<string> {
  const { gateway, viewer, ask, listening } = requestContext;
  const { caller, visible } = viewer;
  const { signal, origin, owner, waitUntil, bytes, operation } = requestContext.context;
  const given = request.params?.['arguments'];
  try {
    const { request: words, summarize, dry_run: dryRun } = parseOwn(ASK_NAME, AskSchema, given);
    const outcome = await ask.ask({
      caller,
      visible,
      request: words,
      summarize,
      dryRun,
      source,
      context: { signal, origin, owner, waitUntil, bytes, operation },
      parent: traceparentOf(requestContext.context, request),
      again: async () => (await listening.now()).viewer,
    });
    return ownResultText(toAskText(outcome), hasFailed(outcome));
  } catch (thrown) {
    noteFailed(requestContext.context, thrown);
    if (!(thrown instanceof PorticoError)) throw thrown;
    if (thrown.code === 'forbidden') {
      const refusal = { method: request.method, subject: ASK_NAME, thrown, source };
      await gateway.refused(caller, refusal, waitUntil);
    }
    if (READABLE.has(thrown.code)) return ownFailureText(thrown);
    throw thrown;
  }
}

const hasFailed = ({ verdict, error }: AskOutcome): boolean =>
  verdict.decision === 'refused' || error !== undefined;
