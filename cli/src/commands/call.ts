/** `portico call`: calls one tool, with flags generated from its schema. Exit code 1 where the tool reports a failure. */
import type { Command } from 'commander';
import { CACHE_META } from '../../../src/gateway/cache/cache-control.ts';
import { connectByPage, findPage, type AccountPage } from '../accounts/account-page.ts';
import { answerQuestions } from '../call/answer-requests.ts';
import { describeTool } from '../call/describe.ts';
import { splitFlags, type CallFlags } from '../call/own-flags.ts';
import { readParameters, takesOthers } from '../call/parameters.ts';
import { hasFlag, missingFrom, readFlags, toJsonText } from '../call/read-flags.ts';
import { showResult } from '../call/show-result.ts';
import { isObject, type JsonObject } from '../../../src/shared/protocol.ts';
import { EXIT, Failure } from '../failure.ts';
import {
  addGatewayOptions,
  readTarget,
  toFullListUrl,
  type GatewayOptions,
} from '../gateway-options.ts';
import { Api } from '../gateway/api.ts';
import { findTool } from '../gateway/find-tool.ts';
import { Mcp, type Answer } from '../gateway/mcp.ts';
import { readInput } from '../input.ts';
import { toSafeJson } from '../output/json.ts';
import { visible } from '../output/table.ts';
import {
  isTerminal,
  note,
  outputColumns,
  withPrompter,
  writeForeign,
  writeOut,
} from '../terminal.ts';
import { tryJson } from '../../../src/shared/json/json-spans.ts';

const HELP = `
Arguments follow the tool's name as flags; portico call NAME --help lists them.
Write nested ones with dots, repeat a flag for a list, or give JSON with --args.
--url, --token and --token-file always go before the name. So does any other
option above if the tool has a parameter of the same name.

Examples:
  portico call github.create_issue --title 'It rains in' --labels bug
  portico call github.create_issue --help
  portico call weather.forecast --args '{"place": {"city": "Riga"}}' --days 3
  echo '{"message": "hi"}' | portico call everything.echo --args-file - --json

If the tool asks for input, you are asked at the terminal; Ctrl-D cancels. If a
server needs your own account, a page opens to connect it, and the call is made
after that.`;

/** Most rounds of server requests in one call. */
const MAX_ROUNDS = 20;
/** The server requests that a person at a terminal can answer. */
const ELICITATION: JsonObject = { elicitation: { form: {}, url: {} } };

/** Adds `call`. */
export function addCall(program: Command): void {
  addGatewayOptions(program.command('call'))
    .argument('<tool>', 'name of the tool')
    .argument('[flags...]', 'its arguments')
    .summary('call a tool')
    .description('Call a tool.')
    .option('--args <json>', 'arguments as JSON; flags are added to them')
    .option('--args-file <file>', 'the same from a file; - for standard input')
    .option('--json', 'print the whole result as JSON')
    .option('--no-browser', 'print the address of an account page instead of opening it')
    .option('--no-cache', 'do not use a cached result')
    .passThroughOptions()
    .allowUnknownOption()
    .addHelpText('after', HELP)
    .action(callTool);
}

async function callTool(
  name: string,
  words: string[],
  options: GatewayOptions & CallFlags,
): Promise<void> {
  const { url, token } = readTarget(options);
  const mcp = new Mcp(toFullListUrl(url), token, isTerminal() ? ELICITATION : {});
  const tool = findTool(await mcp.listTools(), name);
  const schema = isObject(tool.inputSchema) ? tool.inputSchema : {};
  const parameters = readParameters(schema);
  const { own, rest } = splitFlags(words, flag => hasFlag(parameters, flag));
  const { args, argsFile, json, help, cache, browser } = { ...options, ...own };
  if (help) return writeOut(describeTool(tool, outputColumns()));
  const given = await readArguments(args, argsFile);
  const tree = readFlags(rest, parameters, takesOthers(schema), given);
  const missing = missingFrom(tree, parameters).map(parameter => `--${parameter.name}`);
  if (missing.length > 0) {
    throw new Failure(`${tool.name} needs ${missing.join(', ')}; see --help`, EXIT.usage);
  }
  const text = rest.length === 0 && given !== undefined ? given : toJsonText(tree);
  const meta = cache === false ? { [CACHE_META]: 'no-cache' } : {};
  const { result, text: raw } = await send(mcp, tool.name, text, {
    meta,
    onPage: (page, signal) =>
      connectByPage(new Api(url, token), page, { opens: browser !== false, signal }),
    origin: url.origin,
  });
  if (json) await writeForeign(`${raw}\n`, toSafeJson);
  else {
    const shown = showResult(result, outputColumns() !== undefined);
    await writeOut(shown.text);
    for (const line of shown.notes) note(line);
  }
  if (result['isError'] === true) throw new Failure(`${tool.name} reported an error`);
}

interface Sending {
  meta: JsonObject;
  /** Connects an account on a page of the gateway. */
  onPage(page: AccountPage, signal: AbortSignal): Promise<unknown>;
  /** Origin of the gateway. */
  origin: string;
}

/** Key of the gateway's own server request (`src/gateway/steps/ask-for-account.ts`). */
const ACCOUNT_QUESTION = 'connect_account';

/** Returns the page where an account is to be connected, if that is the only request and it comes from the gateway itself. */
function pageAskedFor(requests: unknown, origin: string): AccountPage | undefined {
  const [key, ...more] = isObject(requests) ? Object.keys(requests) : [];
  if (key !== ACCOUNT_QUESTION || more.length > 0) return undefined;
  const request = (requests as JsonObject)[key];
  const params = isObject(request) ? request['params'] : undefined;
  const url = isObject(params) ? params['url'] : undefined;
  return typeof url === 'string' ? findPage(url, origin) : undefined;
}

/** Makes the call, and repeats it with the responses as long as the server asks for input. */
async function send(
  mcp: Mcp,
  name: string,
  text: string,
  { meta, onPage, origin }: Sending,
): Promise<Answer> {
  const hangUp = new AbortController();
  process.once('SIGINT', () => hangUp.abort(new Failure('cancelled', 130)));
  const options = { onNotification: showProgress, signal: hangUp.signal, meta };
  const params = new Map([
    ['name', JSON.stringify(name)],
    ['arguments', text],
  ]);
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const answer = await mcp.request('tools/call', params, options);
    const { resultType, inputRequests, requestState } = answer.result;
    if (resultType !== 'input_required') return answer;
    if (!isTerminal()) {
      throw new Failure(`${name} asks for input; call it at a terminal, or use an MCP client`);
    }
    const page = pageAskedFor(inputRequests, origin);
    if (page) await onPage(page, hangUp.signal);
    const responses = page
      ? { [ACCOUNT_QUESTION]: { action: 'accept' } }
      : await withPrompter(prompter =>
          answerQuestions(name, inputRequests, { ...prompter, tell: note }),
        );
    params.set('inputResponses', JSON.stringify(responses));
    if (requestState !== undefined) params.set('requestState', JSON.stringify(requestState));
  }
  throw new Failure(`${name} still asks for input after ${MAX_ROUNDS} rounds`);
}

/** Shows progress notifications to the person. */
function showProgress(method: string, params: JsonObject): void {
  if (method !== 'notifications/progress') return;
  const { progress, total, message } = params;
  const of = typeof total === 'number' ? `/${total}` : '';
  const said = typeof message === 'string' ? ` ${message}` : '';
  note(visible(`progress ${String(progress)}${of}${said}`.replaceAll(/\s+/g, ' ')));
}

/** Returns the JSON text of `--args` or `--args-file`; undefined where neither is given. */
async function readArguments(args?: string, argsFile?: string): Promise<string | undefined> {
  if (args !== undefined && argsFile !== undefined) {
    throw new Failure('use --args or --args-file, not both', EXIT.usage);
  }
  const text = argsFile === undefined ? args : await readInput(argsFile);
  if (text === undefined) return undefined;
  if (isObject(tryJson(text))) return text.trim();
  throw new Failure('the arguments must be one JSON object', EXIT.usage);
}
