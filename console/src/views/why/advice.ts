/** The steps of a decision in plain words, and what to change where one refuses. Pure. */
import type { AccessExplanation } from '../../generated/types.gen.ts';

export type Step = AccessExplanation['steps'][number];

interface Words {
  name: string;
  /** What to do where it refuses. */
  change: string;
  /** The view to do it in. */
  view?: { path: string; name: string };
}

const SERVERS_VIEW = { path: '/servers', name: 'Servers' };
const RULES_VIEW = { path: '/rules', name: 'Rules' };
const TOOLSETS_VIEW = { path: '/toolsets', name: 'Toolsets' };

export const STEPS: Readonly<Record<Step['step'], Words>> = {
  token_expiry: { name: 'The token is still valid', change: 'Make another token.' },
  scope_list: {
    name: 'The token may list tools',
    change: 'Give the token or its principal the scope tools:read.',
  },
  scope_call: {
    name: 'The token may call tools',
    change: 'Give the token or its principal the scope tools:call.',
  },
  rule: {
    name: 'Rules',
    change: 'Change or delete the rule, or add one that says otherwise.',
    view: RULES_VIEW,
  },
  posture: {
    name: 'The default access if no rule matches',
    change: 'Add a rule that allows it to the principal, one of its groups, or everyone.',
    view: RULES_VIEW,
  },
  token_servers: {
    name: 'The token is for this server',
    change: 'The token is for some servers only. Make one that is for this server too.',
  },
  token_tools: {
    name: 'The token is for this tool',
    change: 'The token is for some tools only. Make one that is for this tool too.',
  },
  token_toolsets: {
    name: 'A toolset of the token has the tool',
    change: 'Add the tool to a toolset of the token, or make a token without that limit.',
    view: TOOLSETS_VIEW,
  },
  toolset: {
    name: 'The toolset has the tool',
    change: 'Add the tool to the toolset, or the principal to those who may use it.',
    view: TOOLSETS_VIEW,
  },
  account: {
    name: 'The personal account at the server has the tool',
    change: 'They have to connect an account at the server, or get the tool allowed for it there.',
  },
  server_status: {
    name: 'The server is up',
    change: 'See what the server reported last, and connect it again.',
    view: SERVERS_VIEW,
  },
  approval: {
    name: 'The definition is approved',
    change: 'Look at what the server says of the tool now, and approve it.',
    view: { path: '/approvals', name: 'Approvals' },
  },
  catalog: {
    name: 'The server has the tool',
    change: 'The server has no such tool: check its spelling, or the server itself.',
    view: SERVERS_VIEW,
  },
  circuit: {
    name: 'Calls to the server are not paused',
    change:
      'The server failed often, so calls are paused. They go on by themselves when it is well.',
  },
};

export type Verdict = 'passes' | 'refuses' | 'not known';

export const toVerdict = (passes: boolean | null): Verdict =>
  passes === null ? 'not known' : passes ? 'passes' : 'refuses';
