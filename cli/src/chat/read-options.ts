/** Converts the options of `portico chat` to the API's fields. Pure. */
import { EXIT, Failure } from '../failure.ts';

export interface ChatOptions {
  resume?: string;
  server?: string[];
  toolset?: string;
  ask?: string;
  maxSteps?: string;
  maxCalls?: string;
  maxTokens?: string;
  maxSeconds?: string;
  maxCost?: string;
}

const ASKS = ['writes', 'always', 'never'];
const LIMITS = [
  ['steps', 'maxSteps', '--max-steps'],
  ['calls', 'maxCalls', '--max-calls'],
  ['tokens', 'maxTokens', '--max-tokens'],
  ['seconds', 'maxSeconds', '--max-seconds'],
] as const;

/** Returns the limits that the options set; undefined where they set none. @throws Failure */
export function readLimits(options: ChatOptions): Record<string, number> | undefined {
  const limits: Record<string, number> = {};
  for (const [name, key, flag] of LIMITS) {
    const text = options[key];
    if (text === undefined) continue;
    if (!/^[1-9]\d{0,8}$/.test(text)) throw usage(`${flag} must be a whole number of at least 1`);
    limits[name] = Number(text);
  }
  const { maxCost } = options;
  if (maxCost !== undefined) {
    if (!/^\d{1,6}(\.\d{1,6})?$/.test(maxCost) || Number(maxCost) === 0) {
      throw usage('--max-cost must be a number of US dollars, like 0.25');
    }
    limits['cost_usd'] = Number(maxCost);
  }
  return Object.keys(limits).length === 0 ? undefined : limits;
}

/** Returns the fields that start a chat, without its first message. @throws Failure */
export function readBeginning(options: ChatOptions): object {
  const { server, toolset, ask, resume } = options;
  if (resume !== undefined && (server ?? toolset ?? ask) !== undefined) {
    throw usage('--server, --toolset and --ask cannot be changed with --resume');
  }
  if (ask !== undefined && !ASKS.includes(ask)) {
    throw usage(`--ask must be ${ASKS.join(', ')}`);
  }
  const tools = { ...(server ? { servers: server } : {}), ...(toolset ? { toolset } : {}) };
  return { tools, ...(ask === undefined ? {} : { approve: ask }) };
}

const usage = (message: string) => new Failure(message, EXIT.usage);
