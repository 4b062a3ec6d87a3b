/** A gateway that records its calls, over servers with scripted answers; the principals' objects note the messages that they get. */
import type { Caller } from '../../../src/access/policy/caller.ts';
import type { Naming } from '../../../src/gateway/viewer.ts';
import { vi } from 'vitest';
import { CallEnds } from '../../../src/gateway/call-log/call-ends.ts';
import { CallLedger, type CallLedgerPorts } from '../../../src/gateway/call-log/call-ledger.ts';
import { createBeforeLog, type CallLog } from '../../../src/gateway/call-log/call-log.ts';
import type { NamedLimit } from '../../../src/audit/limits/token-bucket.ts';
import type { Admission, CallBeginning, CallEnd } from '../../../src/audit/calls/call-schema.ts';
import { parseCatalog } from '../../../src/servers/catalog/catalog.ts';
import type { RelayedRequest } from '../../../src/gateway/gateway.ts';
import type { JsonObject } from '../../../src/shared/protocol.ts';
import type {
  CallContext,
  CallMessage,
  CallMessages,
  CallReply,
} from '../../../src/upstream/protocol/call.ts';
import { createCaller } from '../access/callers.ts';
import { createFakeGateway, createRecord } from './fakes.ts';

export const ada = createCaller({ principalId: 'ada' });
export const alpha = createRecord('alpha');
const naming: Naming = { kind: 'qualified', style: 'dot' };
const CATALOG = parseCatalog(
  'hash-alpha',
  JSON.stringify({
    tools: [
      { name: 'echo', inputSchema: { properties: { approval: { writeOnly: true } } } },
      { name: 'plain', inputSchema: {} },
    ],
    prompts: [{ name: 'greet' }],
    resources: [{ uri: 'note://a', name: 'a' }],
    capabilities: { tools: {}, prompts: {}, resources: {}, completions: {} },
  }),
);

export const result = (parsed: JsonObject): CallReply => ({
  response: { kind: 'response', result: JSON.stringify(parsed), parsed },
});
export const NOTE: CallMessage = { kind: 'notification', method: 'notifications/x', text: '{}' };
export const LAST: CallMessage = { kind: 'response', result: '{}', parsed: {} };

/** A stream of messages; an Error among them is thrown. */
export async function* sequence(...messages: (CallMessage | Error)[]): CallMessages {
  for (const message of messages) {
    if (message instanceof Error) throw message;
    yield message;
  }
}

/** A server's answer to a call, or its failure. */
export type Answer = CallReply | Error | (() => Promise<CallReply>);

interface WorldOptions extends Partial<Pick<CallLedgerPorts, 'isRecording' | 'limits'>> {
  admit?: () => Admission | Promise<Admission>;
  /** Replaces the log that records a call before it is sent. */
  log?: CallLog;
}

export function createWorld(answers: Answer[] = [], options: WorldOptions = {}) {
  const { isRecording = true, limits = {}, admit = () => ({}) } = options;
  const begun: CallBeginning[] = [];
  const ended: CallEnd[] = [];
  const renewed: string[] = [];
  const shard = {
    begin(beginning: CallBeginning) {
      begun.push(beginning);
      return Promise.resolve(admit());
    },
    end: (ends: readonly CallEnd[]) => Promise.resolve(void ended.push(...ends)),
    renew: (id: string) => Promise.resolve(void renewed.push(id)),
    settle: async () => {},
  };
  const shardOf = () => shard;
  const wait = (ms: number) => new Promise(resolve => void setTimeout(resolve, ms));
  const ends = new CallEnds({ shardOf, wait, now: () => Date.now() });
  const keys = { digest: () => Promise.resolve('digest') };
  const log = options.log ?? createBeforeLog({ shardOf, ends, wait });
  /** The limits of calls that took tokens without a log. */
  const drawnOn: (readonly NamedLimit[])[] = [];
  const tokens = {
    async take(_principalId: string, each: readonly NamedLimit[]) {
      drawnOn.push(each);
      return undefined;
    },
  };
  const budgets = { take: async () => {}, refund: () => {} };
  const ledger = new CallLedger({ log, tokens, budgets, keys, isRecording, limits });
  const sent: string[] = [];
  const gateway = createFakeGateway({
    catalogOf: () => CATALOG,
    ledger,
    send(_server, _request, name) {
      sent.push(name ?? '');
      const answer = answers.shift() ?? result({ content: [] });
      if (answer instanceof Error) return Promise.reject(answer);
      return typeof answer === 'function' ? answer() : Promise.resolve(answer);
    },
  });
  const gone = new AbortController();

  const call = (
    request: Partial<RelayedRequest> = {},
    context: Partial<CallContext> = {},
    caller: Caller = ada,
  ) =>
    gateway.request(
      { caller, visible: { servers: [alpha] }, naming },
      {
        method: 'tools/call',
        reference: { kind: 'tool', name: 'alpha.echo' },
        params: new Map([['arguments', '{}']]),
        ...request,
      },
      {
        signal: gone.signal,
        owner: () => 'o',
        waitUntil: () => {},
        capabilities: {},
        questions: 'ask',
        ...context,
      },
    );
  /** How the calls ended, once all deferred work is done. */
  const endings = async () => {
    await vi.advanceTimersByTimeAsync(100);
    return ended.map(({ outcome, code, detail }) => [outcome, code, detail]);
  };
  return { gateway, ledger, call, gone, begun, drawnOn, ended, renewed, sent, endings };
}

/** Reads messages to the end. */
export async function taken(reply: CallReply): Promise<CallMessage[]> {
  const messages: CallMessage[] = [];
  if ('messages' in reply) for await (const message of reply.messages) messages.push(message);
  return messages;
}

/** An answer that the test resolves later. */
export function held() {
  const { promise, resolve, reject } = Promise.withResolvers<CallReply>();
  return { answer: () => promise, resolve, reject };
}
