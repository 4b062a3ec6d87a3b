/** Shows a chat to a person: the model's text on standard output as it arrives, one line per call and result on standard error. */
import colors from 'picocolors';
import type { CallView, ChatEvent } from '../../../src/agents/chat/chat-events.ts';
import { toOneLine } from '../../../src/shared/util/one-line.ts';
import { visible } from '../output/table.ts';
import { note, writeForeign, writeOut } from '../terminal.ts';

/** Line length where the terminal does not report its width. */
const USUAL_COLUMNS = 100;
const MIN_COLUMNS = 40;

const NOT_WHOLE = "the model's answer was cut off";

export class View {
  readonly #isQuiet: boolean;
  readonly #onPage: (text: string) => Promise<void>;
  #isLineOpen = false;

  /**
   * @param isQuiet do not show the text: a program gets it whole at the end
   * @param onPage gets the text of a failed call, which may name the page where an account is connected
   */
  constructor(isQuiet: boolean, onPage: (text: string) => Promise<void>) {
    this.#isQuiet = isQuiet;
    this.#onPage = onPage;
  }

  async show(event: ChatEvent): Promise<void> {
    if (event.type === 'text') return this.#text(event.text);
    // A waiting call is shown in full with the question about it.
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

  /** Ends an open line, so that the next output starts on a line of its own. */
  async endLine(): Promise<void> {
    if (!this.#isLineOpen) return;
    this.#isLineOpen = false;
    await writeOut('\n');
  }

  async #text(text: string): Promise<void> {
    if (this.#isQuiet || text === '') return;
    this.#isLineOpen = !text.endsWith('\n');
    await writeForeign(text, visible);
  }

  async #line(mark: string, text: string): Promise<void> {
    await this.endLine();
    const columns = Math.max(MIN_COLUMNS, process.stderr.columns ?? USUAL_COLUMNS);
    note(`${mark} ${toOneLine(text, columns - 3)}`);
  }
}

const toCallText = ({ name, arguments: given }: CallView) => `${name} ${JSON.stringify(given)}`;

/** Formats a waiting call with all of its arguments: a person must see everything that they approve. */
export function toQuestion({ name, arguments: given }: CallView): string {
  const args = visible(JSON.stringify(given, null, 2));
  return `${colors.bold(visible(name))} ${args}\n${colors.yellow('call it?')} [y/N] `;
}
