/** Describes a tool: what it does, and its parameters as the flags of `portico call`. Pure. */
import { isObject } from '../../../src/shared/protocol.ts';
import type { Tool } from '../gateway/mcp.ts';
import { formatTable, visible } from '../output/table.ts';
import { readParameters, type Parameter } from './parameters.ts';

/** @param columns width of the terminal, if there is one */
export function describeTool(tool: Tool, columns?: number): string {
  const { name, title, description, inputSchema } = tool;
  const parameters = readParameters(isObject(inputSchema) ? inputSchema : {});
  const heading = title === undefined || title === name ? name : `${name}: ${title}`;
  const parts = [`${visible(heading)}\n`];
  if (description) parts.push(`${visible(description.trim())}\n`);
  if (parameters.length === 0) parts.push('It has no parameters.\n');
  else
    parts.push(
      formatTable(['FLAG', 'TYPE', 'DESCRIPTION'], parameters.map(toRow), {
        columns,
        last: 'wrap',
      }),
    );
  return parts.join('\n');
}

function toRow(parameter: Parameter): string[] {
  const { name, type, element, values, isRequired, description, fallback } = parameter;
  const kind = type === 'array' ? `${element}…` : type;
  const notes = [
    isRequired ? 'required' : '',
    values ? `one of ${values.map(value => show(value)).join(', ')}` : '',
    fallback === undefined ? '' : `default ${show(fallback)}`,
  ].filter(text => text !== '');
  const note = notes.length > 0 ? `(${notes.join('; ')})` : '';
  return [`--${name}`, kind, `${description} ${note}`];
}

const show = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
