/**
 * The steps that decide on a tool, each judged by itself, so that an administrator sees everything that stands in the way. Pure. The
 * outcome is not decided here: the gateway decides it by trying the request.
 */
import { viewOfAccount } from '../../access/policy/account-view.ts';
import type { Caller } from '../../access/policy/caller.ts';
import { type CatalogItem, isReadOnly } from '../../servers/catalog/catalog.ts';
import { circuitStateOf } from '../../servers/health/circuit.ts';
import type { ApprovalState } from '../../servers/registry/approval.ts';
import { isOfAccounts } from '../../servers/registry/own-account.ts';
import { isOffered } from '../../servers/registry/status.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import { viewOfToolset } from '../../access/policy/policy.ts';
import { hasScope } from '../../shared/identity/principal.ts';
import type { Toolset } from '../../access/policy/toolset.ts';
import type { StepName } from './step-advice.ts';

export interface Step {
  step: StepName;
  /** Null if it cannot be known, because what it depends on is missing. */
  passes: boolean | null;
  detail: string;
  ruleIds: readonly string[];
}

export interface Case {
  caller: Caller;
  /** Whether the token has expired. */
  isExpired: boolean;
  /** With the account that the principal has there, or needs. */
  server: Server;
  tool: string;
  /** As in the catalog; undefined if it is not there. */
  item: CatalogItem | undefined;
  /** The state of its approval, as far as known. */
  approvalState: ApprovalState | undefined;
  /** Set if the case is about the endpoint of a toolset. */
  toolset: Toolset | undefined;
}

/** Returns the steps in their order: the first that does not pass is named as the reason. */
export function toSteps(given: Case, now: number): Step[] {
  const { caller, isExpired, server, toolset } = given;
  const step = (name: StepName, passes: boolean | null, detail: string): Step => {
    return { step: name, passes, detail, ruleIds: [] };
  };
  const scopeStep = (name: StepName, scope: 'tools:read' | 'tools:call', what: string) =>
    step(name, hasScope(caller, scope), `${what} needs the scope ${scope}`);
  const { status, circuitRetryAt, lastError } = server;
  const error = status === 'ERROR' && lastError !== null ? `: ${lastError}` : '';
  return [
    step('token_expiry', !isExpired, isExpired ? 'The token has expired' : 'The token is valid'),
    scopeStep('scope_list', 'tools:read', 'Listing'),
    scopeStep('scope_call', 'tools:call', 'Calling'),
    ...accessSteps(given),
    ...(toolset ? [toolsetStep(given, toolset)] : []),
    ...(isOfAccounts(server) ? [accountStep(given)] : []),
    step('server_status', isOffered(status), `The server is ${status}${error}`),
    approvalStep(given),
    catalogStep(given),
    step(
      'circuit',
      circuitRetryAt === null,
      `The circuit is ${circuitStateOf(circuitRetryAt, now)}`,
    ),
  ];
}

/**
 * The steps of rules and token limits. If the tool is missing, nobody knows whether it is read-only: a rule that depends on it decides
 * nothing yet.
 */
function accessSteps({ caller: { policy }, server, tool, item }: Case): Step[] {
  const reasons = policy.reasons(server, tool, item !== undefined && isReadOnly(item));
  const [ruling] = reasons;
  const [other] = item ? reasons : policy.reasons(server, tool, true);
  const depends = ruling?.isAllowed !== other?.isAllowed;
  return reasons.map(({ by, isAllowed, ruleIds }): Step => {
    const isOpen = depends && (by === 'rule' || by === 'posture');
    const detail = isOpen ? 'It depends on whether the tool is read-only' : DETAILS[by](isAllowed);
    return { step: by, passes: isOpen ? null : isAllowed, detail, ruleIds: isOpen ? [] : ruleIds };
  });
}

const DETAILS = {
  rule: (allowed: boolean) => `A rule ${allowed ? 'allows' : 'denies'} it`,
  posture: (allowed: boolean) =>
    `No rule matches, and the default access ${allowed ? 'allows' : 'denies'} it`,
  token_servers: (within: boolean) => limitOf('servers', within),
  token_tools: (within: boolean) => limitOf('tools', within),
  token_toolsets: (within: boolean) => limitOf('toolsets', within),
};
const limitOf = (what: string, within: boolean) =>
  `It is ${within ? 'within' : 'outside'} the ${what} of the token`;

function toolsetStep({ caller, server, tool, item }: Case, toolset: Toolset): Step {
  const isUsable = caller.policy.toolset(toolset.name) !== undefined;
  const view = viewOfToolset(toolset, server);
  const passes = isUsable && view.tool(tool, item !== undefined && isReadOnly(item));
  const refusal = isUsable ? 'does not select the tool' : 'is not for this caller';
  const detail = `The toolset ${toolset.name} ${passes ? 'selects the tool' : refusal}`;
  return { step: 'toolset', passes, detail, ruleIds: [] };
}

function accountStep({ server, tool }: Case): Step {
  const step = (passes: boolean, detail: string): Step => {
    return { step: 'account', passes, detail, ruleIds: [] };
  };
  if (!viewOfAccount(server).tool(tool, false))
    return step(false, 'The server does not list it to the account of the principal there');
  if (server.needsAccount)
    return step(false, 'The principal has no account there that works, and needs one');
  return step(true, 'No list of the account there is known to lack it');
}

function approvalStep({ item, approvalState }: Case): Step {
  const isHeld = item === undefined && approvalState !== undefined && HELD.includes(approvalState);
  const detail = isHeld ? `Its definition is held: ${approvalState}` : 'Its definition is not held';
  return { step: 'approval', passes: !isHeld, detail, ruleIds: [] };
}
const HELD: readonly ApprovalState[] = ['pending', 'changed', 'quarantined', 'rejected'];

function catalogStep({ item, server, approvalState }: Case): Step {
  const name = { step: 'catalog', ruleIds: [] } as const;
  if (item) return { ...name, passes: true, detail: 'The server has the tool' };
  if (!isOffered(server.status)) {
    return { ...name, passes: null, detail: 'It is not known now what the server has' };
  }
  const gone = approvalState === 'removed' ? 'The server no longer has the tool' : undefined;
  return { ...name, passes: false, detail: gone ?? 'The server offers no such tool' };
}
