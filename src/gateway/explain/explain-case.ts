/**
 * Explains one case. Whether a tool is listed and may be called is found by trying both on the gateway itself, without sending anything;
 * the steps say why.
 */
import { type Catalog, isReadOnly } from '../../servers/catalog/catalog.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { ErrorCode } from '../../shared/errors/table.ts';
import { withinToolset } from '../toolset-scope.ts';
import type { Trial, TryTool } from './dry-run.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import { toSteps, type Case, type Step } from './explain-steps.ts';

export interface CasePorts {
  catalogOf(server: Server): Catalog | Promise<Catalog>;
  tryTool: TryTool;
  now(): number;
}

export interface Explained {
  /** Whether a call would be sent to the server now. */
  isAllowed: boolean;
  isListed: boolean;
  /** The error that a call is refused with. */
  code: ErrorCode | undefined;
  /** The first step of a call that does not pass; if all pass, that of listing; if it passes too, what the rules say. */
  decided: Step;
  steps: Step[];
  /** Undefined if the server offers no such tool now. */
  isReadOnly: boolean | undefined;
}

export async function explainCase(given: Omit<Case, 'item'>, ports: CasePorts): Promise<Explained> {
  const item = (await ports.catalogOf(given.server)).tools.byKey.get(given.tool);
  const steps = toSteps({ ...given, item }, ports.now());
  const { isListed, code } = await tryCase(given, ports);
  return {
    isAllowed: code === undefined,
    isListed,
    code,
    decided: decidedBy(steps),
    steps,
    isReadOnly: item && isReadOnly(item),
  };
}

/** Applies what comes before the gateway in a request, then the gateway. */
async function tryCase(
  { caller, isExpired, server, tool, toolset }: Omit<Case, 'item'>,
  { tryTool }: CasePorts,
): Promise<Trial> {
  if (isExpired) return { isListed: false, code: 'unauthorized' };
  const whole = { servers: [server] };
  if (!toolset) return tryTool({ caller, visible: whole }, server, tool);
  const usable = caller.policy.toolset(toolset.name);
  if (usable?.id !== toolset.id) return { isListed: false, code: 'not_found' };
  return tryTool({ caller, visible: withinToolset(toolset, whole) }, server, tool);
}

/** Returns the step that refuses a call, else the one that hides the tool from lists, else the one that allows it. */
function decidedBy(steps: readonly Step[]): Step {
  const refusing = steps.filter(({ passes }) => passes === false);
  const ofCall = refusing.find(({ step }) => step !== 'scope_list');
  const ruling = steps.find(({ step }) => step === 'rule' || step === 'posture');
  const decided = ofCall ?? refusing[0] ?? ruling;
  if (!decided) throw new PorticoError('internal');
  return decided;
}
