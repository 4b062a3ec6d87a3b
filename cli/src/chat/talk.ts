/** One chat with a gateway: sends messages and decisions, and shows events as they arrive. */
import type { CallView, ChatEvent, ChatView } from '../../../src/agents/chat/chat-events.ts';
import { EXIT, Failure } from '../failure.ts';
import type { Api } from '../gateway/api.ts';
import { note } from '../terminal.ts';
import type { View } from './view.ts';

const CHATS = '/api/v1/chat';
/** Exit code after Ctrl-C, as in shells. */
export const STOPPED = 130;

export const pathOf = (id: string) => `${CHATS}/${encodeURIComponent(id)}`;

export class Talk {
  readonly #api: Api;
  readonly #view: View;
  #id: string | undefined;

  /** @param id of the chat to resume */
  constructor(api: Api, view: View, id?: string) {
    this.#api = api;
    this.#view = view;
    this.#id = id;
  }

  get id(): string | undefined {
    return this.#id;
  }

  /** Reads the state of the chat to resume. @throws Failure */
  async look(id: string): Promise<ChatView> {
    return this.#api.json<ChatView>('GET', pathOf(id));
  }

  /**
   * Sends a message or decisions, and shows the events of the response.
   * @param begin further fields for a chat that does not exist yet
   * @throws Failure; with exit code `STOPPED` after Ctrl-C
   */
  async send(body: object, begin: object = {}): Promise<ChatView> {
    const controller = new AbortController();
    const onSignal = () => controller.abort(new Failure('stopped', STOPPED));
    process.on('SIGINT', onSignal);
    try {
      const path = this.#id === undefined ? CHATS : pathOf(this.#id);
      const more = this.#id === undefined ? begin : {};
      const sent = { ...body, ...more, stream: true };
      for await (const { event, data } of this.#api.events(path, sent, controller.signal)) {
        const done = await this.#take(event, data);
        if (done) return done;
      }
      throw new Failure('the response of the gateway broke off');
    } finally {
      process.off('SIGINT', onSignal);
      await this.#view.endLine();
    }
  }

  async #take(type: string, data: string): Promise<ChatView | undefined> {
    if (type === 'error') throw new Failure(detailOf(data));
    const event = JSON.parse(data) as ChatEvent;
    if (event.type === 'chat') this.#id = event.id;
    if (event.type === 'done') return event.chat;
    await this.#view.show(event);
    return undefined;
  }

  /** Tells the person how to resume the chat. */
  tellHowToGoOn(): void {
    if (this.#id !== undefined) note(`continue with: portico chat --resume ${this.#id}`);
  }
}

function detailOf(data: string): string {
  const { detail, title } = JSON.parse(data) as { detail?: string; title?: string };
  return detail ?? title ?? 'the gateway failed';
}

/** Says why a run ended; undefined where it ended with an answer. */
export function toReason({ stop_reason: reason, problem }: ChatView): string | undefined {
  if (reason === null || reason === 'answered') return undefined;
  return problem ?? REASONS[reason];
}

const REASONS: Readonly<Record<Exclude<ChatView['stop_reason'], null | 'answered'>, string>> = {
  steps: 'stopped: the maximum number of model requests is reached',
  calls: 'stopped: the maximum number of tool calls is reached',
  tokens: 'stopped: the maximum number of tokens is reached',
  seconds: 'stopped: the maximum duration is reached',
  cost: 'stopped: the maximum cost is reached',
  size: 'stopped: the maximum size of a conversation is reached',
  approval: 'calls wait for a decision',
  stopped: 'stopped',
  interrupted: 'the gateway was interrupted',
  revoked: 'stopped: the token lost its access',
  length: 'the answer was cut off at the maximum length',
  refused: 'the model refused to answer',
  model_failed: 'the model gave no usable answer',
  model_budget: 'the model budget for today is used up',
};

/** Exit code of a command whose chat ended this way. */
export const exitOf = ({ stop_reason: reason }: ChatView): number =>
  reason === 'revoked' ? EXIT.denied : EXIT.failed;

export type { CallView, ChatView };
