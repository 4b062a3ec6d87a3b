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
  /** Name of the command: the records in the plural. */
  name: string;
  /** One of them; the name without its last letter by default. */
  noun: string;
  /** Their name in a summary, if the command's name is not clear. */
  called?: string;
  /** `/api/v1/{name}` by default. */
  path: string;
  /** Member of a page that holds the records; the name with `_` by default. */
  list: string;
  /** Shown where the list is empty. */
  none: string;
  columns: readonly (readonly [heading: string, cell: (view: View, names: Names) => string])[];
  /**
   * How records are written: `records` are created and edited; `named` ones too, and get a name at creation; a `value` is set under its
   * name and never shown; `elsewhere`, the default: by commands of their own; `derived` ones cannot be written.
   */
  written: 'records' | 'named' | 'value' | 'elsewhere' | 'derived';
  /** None by default. */
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

type Defaulted = 'noun' | 'path' | 'list' | 'written' | 'fields';

/** Adds the defaults to a definition, and erases the type of its records. */
export const describe = <View>(
  given: Omit<Described<View>, Defaulted> & Partial<Pick<Resource, Defaulted>>,
): Resource =>
  ({
    noun: given.name.slice(0, -1),
    path: `/api/v1/${given.name}`,
    list: given.name.replaceAll('-', '_'),
    written: 'elsewhere',
    fields: [],
    ...given,
  }) as unknown as Resource;

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
