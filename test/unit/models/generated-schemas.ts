/**
 * Argument schemas as servers write them, and odder ones: nested, with references (also circular), choices, tuples, maps, fixed values,
 * names that no dialect accepts. Each comes with valid arguments, in the tool's form and in that of a dialect.
 */
import type { JsonObject } from '../../../src/shared/protocol.ts';
import type { Random } from '../seeded.ts';
import {
  enumNode,
  fromEntries,
  leaf,
  listOf,
  numberNode,
  plain,
  stringNode,
  type Form,
  type Node,
  type Value,
} from './generated-leaves.ts';

export interface Generated {
  schema: JsonObject;
  sample(): Value;
}

const NAMES = [
  'query',
  'limit',
  'user.name',
  'content-type',
  'my key',
  'naïve',
  '数量',
  '$filter',
  '1st',
  'a/b',
  'x~y',
  '@id',
  '',
  '__proto__',
  'constructor',
  'toString',
  'properties',
  'type',
  'anyOf',
  'p'.repeat(70),
  '😀',
];
class Generator {
  readonly #random: Random;
  readonly defs: Record<string, Node> = {};
  readonly #defsKey: string;
  #made = 0;

  constructor(random: Random) {
    this.#random = random;
    this.#defsKey = random.chance(0.8) ? '$defs' : 'definitions';
  }

  root(): Generated {
    const random = this.#random;
    const node = random.chance(0.12) ? this.#rootChoice() : this.#object(0);
    const found = node.schema as JsonObject;
    const names = Object.keys(this.defs);
    const defs = Object.fromEntries(names.map(name => [name, this.defs[name]?.schema ?? true]));
    const schema = {
      ...(random.chance(0.2) ? { $schema: 'https://json-schema.org/draft/2020-12/schema' } : {}),
      ...found,
      ...(names.length > 0 ? { [this.#defsKey]: defs } : {}),
    };
    return { schema, sample: () => node.sample() };
  }

  #node(depth: number): Node {
    const random = this.#random;
    const kinds = ['string', 'string', 'number', 'boolean', 'enum', 'const', 'any', 'nullable'];
    const deep = [
      'object',
      'object',
      'array',
      'choice',
      'types',
      'ref',
      'map',
      'all',
      'tuple',
      'circle',
    ];
    const kind = random.pick(depth < 4 ? [...kinds, ...deep] : kinds);
    const node = this.#ofKind(kind, depth);
    if (typeof node.schema === 'boolean' || '$ref' in node.schema) return node;
    const notes: JsonObject = {};
    if (random.chance(0.4)) notes['description'] = 'What it is: a value, “so to speak”';
    if (random.chance(0.1)) notes['title'] = 'Value';
    if (random.chance(0.1)) notes['$comment'] = 'seen';
    if (random.chance(0.1)) notes['x-odd'] = { a: [1] };
    if (random.chance(0.05)) notes['examples'] = [1];
    return { ...node, schema: { ...node.schema, ...notes } };
  }

  #ofKind(kind: string, depth: number): Node {
    const random = this.#random;
    switch (kind) {
      case 'string':
        return stringNode(random);
      case 'number':
        return numberNode(random);
      case 'boolean':
        return leaf({ type: 'boolean' }, [true, false], random);
      case 'enum':
        return enumNode(random);
      case 'const': {
        const value = random.pick<unknown>(['fixed', 7, true, null]);
        const typed = random.chance(0.5) && typeof value === 'string' ? { type: 'string' } : {};
        return leaf({ ...typed, const: value }, [value], random);
      }
      case 'any':
        return leaf(random.pick<JsonObject | boolean>([true, {}]), ['x', 3, null, [1]], random);
      case 'nullable':
        return leaf({ type: ['string', 'null'] }, ['x', null], random);
      case 'types':
        return leaf({ type: ['string', 'integer'], maxLength: 9, maximum: 9 }, ['x', 3], random);
      case 'object':
        return this.#object(depth + 1);
      case 'array':
        return this.#array(depth + 1);
      case 'tuple':
        return this.#tuple(depth + 1);
      case 'map':
        return this.#map(depth + 1);
      case 'all':
        return this.#all(depth + 1);
      case 'ref':
        return this.#ref(depth + 1);
      case 'circle':
        return this.#circle();
      default:
        return this.#choice(depth + 1);
    }
  }

  /** @param kind the value of the property that distinguishes one alternative from another */
  #object(depth: number, kind?: string): Node {
    const random = this.#random;
    const chosen = new Set<string>();
    const count = random.below(depth === 0 ? 6 : 4) + (depth === 0 ? 0 : 1);
    while (chosen.size < count)
      chosen.add(random.chance(0.5) ? `p${random.below(9)}` : random.pick(NAMES));
    const members = [...chosen].map(name => ({
      name,
      node: this.#node(depth),
      isRequired: random.chance(0.5),
    }));
    if (kind !== undefined) {
      members.unshift({
        name: 'kind',
        node: leaf({ const: kind }, [kind], random),
        isRequired: true,
      });
    }
    const properties = fromEntries(members.map(({ name, node }) => [name, node.schema]));
    const required = members.filter(({ isRequired }) => isRequired).map(({ name }) => name);
    const schema: JsonObject = { type: 'object', properties };
    if (required.length > 0) schema['required'] = required;
    if (random.chance(0.4)) schema['additionalProperties'] = false;
    else if (random.chance(0.2)) schema['additionalProperties'] = true;
    const sample = (): Value => {
      const set = members.flatMap(({ name, node, isRequired }) => {
        // Null and absent are the same for an optional property that also takes null.
        const isGiven = isRequired || node.takesNull || random.chance(0.6);
        return [{ name, value: isGiven ? node.sample() : undefined }];
      });
      const own = set.flatMap(({ name, value }) => (value ? [[name, value.own] as const] : []));
      const given = (form: Form) =>
        fromEntries(
          set.flatMap(({ name, value }) => {
            if (!value && !form.nulls) return [];
            return [[form.names.get(name) ?? name, value ? value.given(form) : null] as const];
          }),
        );
      return { own: fromEntries(own), given };
    };
    return { schema, takesNull: false, sample };
  }

  #array(depth: number): Node {
    const random = this.#random;
    const items = this.#node(depth);
    const schema: JsonObject = { type: 'array' };
    const hasItems = random.chance(0.85);
    if (hasItems) schema['items'] = items.schema;
    if (random.chance(0.2)) schema['minItems'] = 2;
    if (random.chance(0.2)) schema['maxItems'] = 5;
    const sample = () => {
      const values = [0, 1, 2].map(() => (hasItems ? items.sample() : plain('x')));
      return listOf(values);
    };
    return { schema, takesNull: false, sample };
  }

  #tuple(depth: number): Node {
    const parts = [this.#node(depth), this.#node(depth)];
    const schema = { type: 'array', prefixItems: parts.map(each => each.schema), minItems: 2 };
    return { schema, takesNull: false, sample: () => listOf(parts.map(each => each.sample())) };
  }

  #map(depth: number): Node {
    const value = this.#node(depth);
    const schema = { type: 'object', additionalProperties: value.schema };
    const sample = (): Value => {
      const one = value.sample();
      return {
        own: { 'any key': one.own },
        given: form => ({ 'any key': one.given(form) }),
      };
    };
    return { schema, takesNull: false, sample };
  }

  #all(depth: number): Node {
    const one = this.#node(depth);
    const other = this.#node(depth);
    const part = (name: string, node: Node, isRequired: boolean) => ({
      type: 'object',
      properties: { [name]: node.schema },
      ...(isRequired ? { required: [name] } : {}),
    });
    const schema = { allOf: [part('first', one, true), part('second part', other, true)] };
    const sample = (): Value => {
      const [first, second] = [one.sample(), other.sample()];
      return {
        own: { first: first.own, 'second part': second.own },
        given: form => ({
          [form.names.get('first') ?? 'first']: first.given(form),
          [form.names.get('second part') ?? 'second part']: second.given(form),
        }),
      };
    };
    return { schema, takesNull: false, sample };
  }

  #choice(depth: number): Node {
    const random = this.#random;
    const key = random.pick(['anyOf', 'oneOf']);
    const alternatives = random.chance(0.5)
      ? [this.#object(depth, 'one'), this.#object(depth, 'two')]
      : [stringNode(random), leaf({ type: 'boolean' }, [true], random)];
    if (random.chance(0.3)) alternatives.push(leaf({ type: 'null' }, [null], random));
    const takesNull = alternatives.some(each => each.takesNull);
    const schema = { [key]: alternatives.map(each => each.schema) };
    return { schema, takesNull, sample: () => random.pick(alternatives).sample() };
  }

  #rootChoice(): Node {
    const random = this.#random;
    const alternatives = [this.#object(1, 'one'), this.#object(1, 'two')];
    const key = random.pick(['anyOf', 'oneOf']);
    const schema = { type: 'object', [key]: alternatives.map(each => each.schema) };
    return { schema, takesNull: false, sample: () => random.pick(alternatives).sample() };
  }

  #ref(depth: number): Node {
    const random = this.#random;
    const known = Object.keys(this.defs);
    const isKnown = known.length > 0 && random.chance(0.5);
    const name = isKnown ? random.pick(known) : `D${(this.#made += 1)}`;
    // The definition being made is not registered yet, so it does not contain itself.
    if (!isKnown) this.defs[name] = random.chance(0.7) ? this.#object(depth) : enumNode(random);
    const node = this.defs[name] ?? leaf(true, [1], random);
    const notes = random.chance(0.3) ? { description: 'By reference' } : {};
    return { ...node, schema: { $ref: `#/${this.#defsKey}/${name}`, ...notes } };
  }

  /** A list of itself, with an end. */
  #circle(): Node {
    const $ref = `#/${this.#defsKey}/Tree`;
    const properties = {
      label: { type: 'string' },
      children: { type: 'array', items: { $ref } },
    };
    const tree: JsonObject = { type: 'object', properties, required: ['label', 'children'] };
    const own = { label: 'a', children: [{ label: 'b', children: [] }] };
    const given = (form: Form) => {
      const [label, children] = ['label', 'children'].map(name => form.names.get(name) ?? name);
      return {
        [label ?? '']: 'a',
        [children ?? '']: [{ [label ?? '']: 'b', [children ?? '']: [] }],
      };
    };
    const node = { schema: { $ref }, takesNull: false, sample: () => ({ own, given }) };
    this.defs['Tree'] = { ...node, schema: tree };
    return node;
  }
}

export const generateSchema = (random: Random): Generated => new Generator(random).root();
