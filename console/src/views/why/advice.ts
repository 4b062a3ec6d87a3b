/** The steps of a decision in plain words, and the view where each is changed. Pure. */
import type { AccessExplanation } from '../../generated/types.gen.ts';

export type Step = AccessExplanation['steps'][number];

interface Words {
  name: string;
  /** Where to change it. */
  view?: { path: string; name: string };
}

const SERVERS_VIEW = { path: '/servers', name: 'Servers' };
const RULES_VIEW = { path: '/rules', name: 'Rules' };
const TOOLSETS_VIEW = { path: '/toolsets', name: 'Toolsets' };

export const STEPS: Readonly<Record<Step['step'], Words>> = {
  token_expiry: { name: 'The token is still valid' },
  scope_list: { name: 'The token may list tools' },
  scope_call: { name: 'The token may call tools' },
  rule: { name: 'Rules', view: RULES_VIEW },
  posture: { name: 'The default access if no rule matches', view: RULES_VIEW },
  token_servers: { name: 'The token is for this server' },
  token_tools: { name: 'The token is for this tool' },
  token_toolsets: { name: 'A toolset of the token has the tool', view: TOOLSETS_VIEW },
  toolset: { name: 'The toolset has the tool', view: TOOLSETS_VIEW },
  account: { name: 'The personal account at the server has the tool' },
  server_status: { name: 'The server is up', view: SERVERS_VIEW },
  approval: {
    name: 'The definition is approved',
    view: { path: '/approvals', name: 'Approvals' },
  },
  catalog: { name: 'The server has the tool', view: SERVERS_VIEW },
  circuit: { name: 'Calls to the server are not paused' },
};

export type Verdict = 'passes' | 'refuses' | 'not known';

export const toVerdict = (passes: boolean | null): Verdict =>
  passes === null ? 'not known' : passes ? 'passes' : 'refuses';
