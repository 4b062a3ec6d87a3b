/** What each step of an explanation says to an administrator, and what it leaves open. */
import { describe, expect, it } from 'vitest';
import { toSteps, type Case } from '../../../src/gateway/explain/explain-steps.ts';
import type { StepName } from '../../../src/gateway/explain/step-advice.ts';
import type { AccessRule } from '../../../src/access/policy/rule.ts';
import type { Toolset } from '../../../src/access/policy/toolset.ts';
import { parseCatalog } from '../../../src/servers/catalog/catalog.ts';
import type { Server } from '../../../src/servers/registry/server-schema.ts';
import type { HeldAccount } from '../../../src/shared/identity/account.ts';
import { createRecord } from './fakes.ts';
import { createCaller, OPEN } from '../access/callers.ts';

const itemOf = (readOnlyHint: boolean) => {
  const tools = [{ name: 'drop', inputSchema: {}, annotations: { readOnlyHint } }];
  return parseCatalog(`${readOnlyHint}`, JSON.stringify({ tools })).tools.byKey.get('drop');
};
const plain = itemOf(false);
const rule = (id: string, more: Partial<AccessRule>): AccessRule => {
  const subject = { kind: 'everyone' } as const;
  return { id, effect: 'allow', subject, server: '*', tool: '*', readOnly: false, ...more };
};
const toolset = (include: string[], members?: { principals: string[]; groups: string[] }) => {
  const definition = { include, exclude: [], overrides: [], ...(members ? { members } : {}) };
  return { id: 'id-set', name: 'set', description: '', definition } satisfies Toolset;
};

function stepOf(name: StepName, more: Partial<Case>, record: Partial<Server> = {}) {
  const server = createRecord('files', record);
  const given: Case = {
    caller: createCaller(),
    isExpired: false,
    server,
    tool: 'drop',
    item: plain,
    approvalState: undefined,
    toolset: undefined,
    ...more,
  };
  const found = toSteps(given, 1_000).find(({ step }) => step === name);
  return found && [found.passes, found.detail, ...found.ruleIds];
}
const within = (rules: AccessRule[], defaultAccess: 'open' | 'closed' = 'open') =>
  createCaller({}, undefined, { ...OPEN, defaultAccess, rules });

describe('a step', () => {
  it.each<[StepName, Partial<Case>, boolean, string]>([
    ['token_expiry', {}, true, 'The token is valid'],
    ['token_expiry', { isExpired: true }, false, 'The token has expired'],
    ['scope_list', {}, true, 'Listing needs the scope tools:read'],
    [
      'scope_call',
      { caller: createCaller({}, ['tools:read']) },
      false,
      'Calling needs the scope tools:call',
    ],
    ['posture', {}, true, 'No rule matches, and the default access allows it'],
    [
      'posture',
      { caller: within([], 'closed') },
      false,
      'No rule matches, and the default access denies it',
    ],
    ['token_servers', {}, true, 'It is within the servers of the token'],
    [
      'token_servers',
      { caller: createCaller({ servers: [] }) },
      false,
      'It is outside the servers of the token',
    ],
    [
      'token_tools',
      { caller: createCaller({ tools: [] }) },
      false,
      'It is outside the tools of the token',
    ],
    [
      'token_toolsets',
      { caller: createCaller({ toolsets: [] }) },
      false,
      'It is outside the toolsets of the token',
    ],
    ['approval', {}, true, 'Its definition is not held'],
    [
      'approval',
      { item: undefined, approvalState: 'changed' },
      false,
      'Its definition is held: changed',
    ],
    [
      'approval',
      { item: undefined, approvalState: 'approved' },
      true,
      'Its definition is not held',
    ],
    ['approval', { item: undefined, approvalState: 'removed' }, true, 'Its definition is not held'],
    ['approval', { item: undefined }, true, 'Its definition is not held'],
    // It is served, so it does not wait for approval, whatever was recorded before.
    ['approval', { approvalState: 'pending' }, true, 'Its definition is not held'],
    ['catalog', {}, true, 'The server has the tool'],
    ['catalog', { item: undefined }, false, 'The server offers no such tool'],
    [
      'catalog',
      { item: undefined, approvalState: 'removed' },
      false,
      'The server no longer has the tool',
    ],
    ['circuit', {}, true, 'The circuit is closed'],
  ])('[ACC-3] %s of %j: %j, %s', (name, given, passes, detail) => {
    expect(stepOf(name, given)).toEqual([passes, detail]);
  });

  it('[ACC-3] shows the state of the server, and its error only in that state', () => {
    const statusOf = (record: Partial<Server>) => stepOf('server_status', {}, record);
    expect(statusOf({})).toEqual([true, 'The server is CONNECTED']);
    expect(statusOf({ lastError: 'long ago' })).toEqual([true, 'The server is CONNECTED']);
    expect(statusOf({ status: 'ERROR' })).toEqual([true, 'The server is ERROR']);
    expect(statusOf({ status: 'DISCONNECTED' })).toEqual([false, 'The server is DISCONNECTED']);
    expect(statusOf({ status: 'ERROR', lastError: 'no route' })).toEqual([
      true,
      'The server is ERROR: no route',
    ]);
  });

  it('[ACC-3] leaves open what an unavailable server has', () => {
    const found = stepOf('catalog', { item: undefined }, { status: 'DISCONNECTED' });
    expect(found).toEqual([null, 'It is not known now what the server has']);
  });

  it('[ACC-3] names the rules that decide', () => {
    const rules = [rule('r1', { effect: 'deny' }), rule('r2', { tool: 'read' })];
    expect(stepOf('rule', { caller: within(rules) })).toEqual([false, 'A rule denies it', 'r1']);
    const allowing = { caller: within([rule('r3', { tool: 'd*' })], 'closed') };
    expect(stepOf('rule', allowing)).toEqual([true, 'A rule allows it', 'r3']);
  });
});

describe('rules about read-only tools', () => {
  const rules = [rule('all', { effect: 'deny' }), rule('reading', { readOnly: true })];
  const allowing = [rule('reading', { readOnly: true })];
  const depends = [null, 'It depends on whether the tool is read-only'];

  it('[ACC-3] leave the decision open for a tool that does not exist', () => {
    const caller = within(allowing, 'closed');
    expect(stepOf('posture', { caller, item: undefined })).toEqual(depends);
    const refusing = within([
      rule('writing', { tool: 'd*' }),
      rule('no', { effect: 'deny', readOnly: true }),
    ]);
    expect(stepOf('rule', { caller: refusing, item: undefined })).toEqual(depends);
    // Steps that do not depend on it are still decided.
    expect(stepOf('token_servers', { caller, item: undefined })).toEqual([
      true,
      'It is within the servers of the token',
    ]);
    expect(stepOf('rule', { caller: within(rules), item: undefined })).toEqual([
      false,
      'A rule denies it',
      'all',
    ]);
  });

  it('[ACC-3] decide on an existing tool by its annotations', () => {
    const caller = within(allowing, 'closed');
    expect(stepOf('rule', { caller, item: itemOf(true) })).toEqual([
      true,
      'A rule allows it',
      'reading',
    ]);
    expect(stepOf('posture', { caller })).toEqual([
      false,
      'No rule matches, and the default access denies it',
    ]);
  });
});

describe('the step of an account', () => {
  const none = 'The principal has no account there that works, and needs one';
  const held: HeldAccount = {
    id: 'a',
    principalId: 'p',
    serverId: 'id-files',
    sealed: '',
    revision: 1,
    serial: null,
    issuedAt: null,
    expiresAt: null,
    ended: null,
    lists: null,
    listsOf: null,
    listsAt: null,
  };
  const ended = { ...held, ended: 'refused' };
  it.each<[string, Partial<Server>, boolean, string]>([
    ['is missing', { needsAccount: true }, false, none],
    ['has ended', { needsAccount: true, account: ended }, false, none],
    ['has the tool', { account: held }, true, 'No list of the account there is known to lack it'],
    [
      'lacks the tool',
      { account: { ...held, lists: { tools: { lacks: ['drop'] } } } },
      false,
      'The server does not list it to the account of the principal there',
    ],
  ])('[ACC-3] [ACC-8] says that it %s', (_which, record, passes, detail) => {
    expect(stepOf('account', {}, record)).toEqual([passes, detail]);
  });

  it('[ACC-3] [ACC-8] is left out where the credential of the deployment is used', () => {
    expect(stepOf('account', {})).toBeUndefined();
  });
});

describe('the step of a toolset', () => {
  it('[ACC-4] distinguishes a toolset that is not for the caller from one without the tool', () => {
    const having = (set: Toolset) => {
      const caller = createCaller({}, undefined, { ...OPEN, toolsets: [set] });
      return stepOf('toolset', { caller, toolset: set });
    };
    expect(having(toolset(['files.d*']))).toEqual([true, 'The toolset set selects the tool']);
    expect(having(toolset(['files.r*']))).toEqual([
      false,
      'The toolset set does not select the tool',
    ]);
    const closed = toolset(['files'], { principals: [], groups: ['ops'] });
    expect(having(closed)).toEqual([false, 'The toolset set is not for this caller']);
  });
});
