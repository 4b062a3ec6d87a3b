/** What people see of a chat: the model's text as it comes on standard output, each call and each result in a line on standard error. */
import colors from 'picocolors';
import type { CallView, ChatEvent } from '../../../src/agents/chat/chat-events.ts';
import { toOneLine } from '../../../src/shared/util/one-line.ts';
import { visible } from '../output/table.ts';
import { note, outputColumns, writeOut } from '../terminal.ts';

/** Longest line about a call, where the terminal does not say how wide it is. */
const USUAL_COLUMNS = 100;
const MIN_COLUMNS = 40;

const NOT_WHOLE = 'the answer of the model is not whole';

export class View {
  readonly #isQuiet: boolean;
  readonly #onPage: (text: string) => Promise<void>;
  #isLineOpen = false;

  /**
   * @param isQuiet the text is not shown: a program gets it whole
   * @param onPage told what a failed call says, which may be where to connect an account
   */
  constructor(isQuiet: boolean, onPage: (text: string) => Promise<void>) {
    this.#isQuiet = isQuiet;
    this.#onPage = onPage;
  }

  async show(event: ChatEvent): Promise<void> {
    if (event.type === 'text') return this.#text(event.text);
    // One that waits is shown whole, by the question about it.
    if (event.type === 'call' && event.call.decision === 'waiting') return undefined;
    if (event.type === 'call' && event.call.decision === 'not_made') {
      return this.#line(colors.red('✗'), `${event.call.name} was not called: ${NOT_WHOLE}`);
    }
    if (event.type === 'call') return this.#line(colors.cyan('→'), toCallText(event.call));
    if (event.type !== 'result') return undefined;
    const mark = event.is_error ? colors.red('✗') : colors.green('←');
    await this.#line(mark, `${event.name} ${event.preview}`);
    if (event.is_error) await this.#onPage(event.preview);
  }

  /** What comes next begins a line. */
  async endLine(): Promise<void> {
    if (!this.#isLineOpen) return;
    this.#isLineOpen = false;
    await writeOut('\n');
  }

  async #text(text: string): Promise<void> {
    if (this.#isQuiet || text === '') return;
    this.#isLineOpen = !text.endsWith('\n');
    await writeOut(outputColumns() === undefined ? text : visible(text));
  }

  async #line(mark: string, text: string): Promise<void> {
    await this.endLine();
    const columns = Math.max(MIN_COLUMNS, process.stderr.columns ?? USUAL_COLUMNS);
    note(`${mark} ${toOneLine(text, columns - 3)}`);
  }
}

const toCallText = ({ name, arguments: given }: CallView) => `${name} ${JSON.stringify(given)}`;

/** A call that waits, with all of its arguments: what is approved is what is seen. */
export function toQuestion({ name, arguments: given }: CallView): string {
  const args = visible(JSON.stringify(given, null, 2));
  return `${colors.bold(visible(name))} ${args}\n${colors.yellow('call it?')} [y/N] `;
}
