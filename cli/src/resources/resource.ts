/** The definition of a resource on the command line (`resources.ts` has them all). */
import type { Names } from '../configuration/names.ts';
import type { Api } from '../gateway/api.ts';
import type { TableLook } from '../terminal.ts';

/** A field that an option sets. */
export interface Field {
  /** Its name in the API. */
  field: string;
  /** As commander takes them; they name the option. */
  flags: string;
  about: string;
  takes: 'text' | 'number' | 'list' | 'flag' | 'subject';
  choices?: readonly string[];
}

export interface Described<View> {
  /** Name of the command. */
  name: string;
  noun: string;
  /** Their name in a summary, if the command's name is not clear. */
  called?: string;
  path: string;
  /** Member of a page that holds the records. */
  list: string;
  /** Shown where the list is empty. */
  none: string;
  columns: readonly (readonly [heading: string, cell: (view: View, names: Names) => string])[];
  /**
   * How records are written: `records` are created and edited; `named` ones too, and get a name at creation; a `value` is set under its
   * name and never shown; `elsewhere`: by commands of their own; `derived` ones cannot be written.
   */
  written: 'records' | 'named' | 'value' | 'elsewhere' | 'derived';
  fields: readonly Field[];
  /** Style of the list, and a note below it. */
  look?: TableLook;
  beside?(api: Api, views: readonly View[]): Promise<string | undefined>;
  /** More fields for `show`, beside those of the record. */
  whatElse?(api: Pick<Api, 'list'>, name: string): Promise<object>;
  /** An example's id, command lines that create one, and examples of an edit. */
  example: { id: string; new?: readonly string[]; edit?: string; json?: string };
  /** Note about the consequences of a removal. */
  removal?: string;
}
export type Resource = Described<object>;

/** Erases the type of a resource's records. */
export const describe = <View>(described: Described<View>): Resource =>
  described as unknown as Resource;

/** A field that an option sets as text. */
export const text = (field: string, flags: string, about: string): Field => ({
  field,
  flags,
  about,
  takes: 'text',
});

/** A name is given at creation and can be edited later. */
export const editedFieldsOf = ({ written, fields }: Resource): readonly Field[] =>
  written === 'named' ? [text('name', '--name <name>', 'new name'), ...fields] : fields;
