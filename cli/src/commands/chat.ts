/** `portico chat`: a conversation with the gateway's language model, which calls tools with the caller's token. */
import type { Command } from 'commander';
import { pageShower } from '../accounts/account-page.ts';
import { again } from '../again.ts';
import { askPrompter, decideAll, nobody, type Decide } from '../chat/prompt.ts';
import { readBeginning, readLimits, type ChatOptions } from '../chat/read-options.ts';
import { exitOf, STOPPED, Talk, toReason, type ChatView } from '../chat/talk.ts';
import { View } from '../chat/view.ts';
import { EXIT, Failure } from '../failure.ts';
import { addGatewayOptions, readTarget, type GatewayOptions } from '../gateway-options.ts';
import { Api } from '../gateway/api.ts';
import { readInput } from '../input.ts';
import { askLine, isTerminal, note, writeJson } from '../terminal.ts';

interface Options extends GatewayOptions, ChatOptions {
  json?: boolean;
  yes?: boolean;
  no?: boolean;
}

const HELP = `
Without a message, at a terminal, you chat until you press Ctrl-D. Answers go to
standard output, a line for each call to standard error. You are asked before a
tool is called that is not annotated read-only. If nobody can be asked, the call
waits; --resume continues with it. Calls of an answer that was cut off are not
made; --resume asks the model again. Ctrl-C stops the run. A chat is kept for a
day.

Exit codes: 0 answered, 1 stopped before that, 2 wrong usage, 3 not allowed,
4 no such chat, 130 stopped with Ctrl-C.

Examples:
  portico chat
  portico chat 'which of my open issues are about rain?' --server github
  git log -5 | portico chat --json | jq -r .answer
  portico chat 'close the oldest one' --ask always --max-steps 5
  portico chat --resume 5b0c6f5e-2f0b-4f5b-8f0b-8d4f0b7f4a10`;

/** Adds `chat`. */
export function addChat(program: Command): void {
  addGatewayOptions(program.command('chat'))
    .argument(
      '[message]',
      'message to the model (default: standard input, unless it is a terminal)',
    )
    .summary('let a language model use the tools')
    .description("Chat with the gateway's language model, which calls tools with your token.")
    .option('--resume <id>', 'continue a chat')
    .option('--server <name>', 'only tools of this server; may be repeated', again)
    .option('--toolset <name>', 'only tools of this toolset')
    .option('--ask <when>', 'when to ask you before a call: writes (default), always or never')
    .option('--yes', 'approve every call you would be asked about')
    .option('--no', 'refuse every call you would be asked about')
    .option('--max-steps <count>', 'maximum number of requests to the model')
    .option('--max-calls <count>', 'maximum number of tool calls')
    .option('--max-tokens <count>', 'maximum number of tokens, of requests and answers')
    .option('--max-seconds <count>', 'maximum duration in seconds')
    .option('--max-cost <dollars>', 'maximum cost, if the gateway knows prices')
    .option('--json', 'print JSON for programs')
    .addHelpText('after', HELP)
    .action(chat);
}

async function chat(message: string | undefined, options: Options): Promise<void> {
  if (options.yes && options.no) throw new Failure('--yes and --no exclude each other', EXIT.usage);
  const { url, token } = readTarget(options);
  const limits = readLimits(options);
  const begin = readBeginning(options);
  const shown = new View(options.json === true, pageShower(url.origin));
  const talk = new Talk(new Api(url, token), shown, options.resume);
  const send = (body: object) => talk.send({ ...body, ...(limits ? { limits } : {}) }, begin);
  const decide = toDecide(options);
  try {
    const first = await readMessage(message, options);
    if (first !== undefined || options.resume !== undefined) {
      const view = await settle(send, decide, await start(talk, send, decide, first));
      await show(view, options, talk);
    }
    if (first === undefined && isTerminal() && !options.json) await converse(talk, send, decide);
  } catch (error) {
    const { exitCode } = error as { exitCode?: unknown };
    if (exitCode === STOPPED) talk.tellHowToGoOn();
    throw error;
  }
}

type Send = (body: object) => Promise<ChatView>;

function toDecide({ yes, no }: Options): Decide {
  if (yes) return decideAll(true);
  if (no) return decideAll(false);
  return isTerminal() ? askPrompter : nobody;
}

/**
 * Returns the message from the argument or standard input; undefined at a terminal, or where a chat is resumed without one. @throws Failure
 * where standard input is empty and no chat is resumed
 */
async function readMessage(given: string | undefined, { resume }: Options) {
  if (given !== undefined) return given;
  if (process.stdin.isTTY) return undefined;
  const text = (await readInput('-')).trim();
  if (text !== '') return text;
  if (resume !== undefined) return undefined;
  throw new Failure('there is no message; give one, or see --help', EXIT.usage);
}

/** Starts a chat, or continues one from its current state. */
async function start(talk: Talk, send: Send, decide: Decide, message: string | undefined) {
  if (message !== undefined) return send({ message });
  const view = await talk.look(talk.id ?? '');
  if (view.status === 'running') throw new Failure('the chat is running');
  if (view.pending) return settle(send, decide, view);
  const rests = view.stop_reason === 'answered' || isCutOrRefused(view);
  return rests ? view : send({});
}

/** A cut or refused answer still counts as an answer, unless it left calls unmade: then the model is asked again. */
const isCutOrRefused = ({ stop_reason: reason, calls }: ChatView): boolean =>
  (reason === 'length' || reason === 'refused') &&
  calls.every(({ decision }) => decision !== 'not_made');

/** Decides about waiting calls until none waits or nobody decides. */
async function settle(send: Send, decide: Decide, from: ChatView): Promise<ChatView> {
  let view = from;
  while (view.pending) {
    const decisions = await decide(view.pending);
    if (!decisions) break;
    view = await send({ decisions });
  }
  return view;
}

/** Ends the command. @throws Failure where the run ended without an answer */
async function show(view: ChatView, { json }: Options, talk: Talk): Promise<void> {
  if (json) await writeJson(view);
  const reason = toReason(view);
  if (reason === undefined) return;
  talk.tellHowToGoOn();
  throw new Failure(reason, exitOf(view));
}

/** Reads and sends messages until the person leaves. */
async function converse(talk: Talk, send: Send, decide: Decide): Promise<void> {
  for (;;) {
    const message = await askLine('› ');
    if (message === undefined) break;
    if (message.trim() === '') continue;
    try {
      const view = await settle(send, decide, await send({ message }));
      const reason = toReason(view);
      if (reason !== undefined) note(reason);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      note(error.message);
      if (error.exitCode === EXIT.denied) throw error;
    }
  }
  note('');
  talk.tellHowToGoOn();
}
