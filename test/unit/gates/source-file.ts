/**
 * What the gates know of one source file: its imports, its module-scope declarations and its strings, read from the syntax tree, so that a
 * comment is never taken for code. Makes no judgement.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import ts from 'typescript';

/** One `import` or `export … from`, static or dynamic. */
export interface Import {
  /** As written. */
  specifier: string;
  /** For a local file the path from the root of the repository, else undefined. */
  file: string | undefined;
  /** Names as the other module exports them; empty for a side effect or a dynamic import. */
  names: string[];
  /** Erased at run time. */
  typeOnly: boolean;
}

/** A variable of module scope. */
export interface ModuleVariable {
  name: string;
  kind: 'const' | 'let' | 'var';
  /** Name of the class or function whose result it holds: `Server` for `new Server()`. */
  madeBy: string | undefined;
}

/** One file, parsed. */
export interface SourceFile {
  /** From the root of the repository, with `/`. */
  path: string;
  text: string;
  imports: Import[];
  moduleVariables: ModuleVariable[];
  /** The text of every string and template literal. */
  strings: string[];
  /** Callees, as written without arguments: `env.CATALOG.get`. */
  calls: string[];
  /** Names used as types. */
  types: string[];
}

/** Parses one TypeScript or JavaScript file. */
export function parseSource(path: string, text: string): SourceFile {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true);
  const file: SourceFile = {
    path,
    text,
    imports: [],
    moduleVariables: tree.statements.filter(ts.isVariableStatement).flatMap(toModuleVariables),
    strings: [],
    calls: [],
    types: [],
  };
  const visit = (node: ts.Node): void => {
    const found = toImport(node, path);
    if (found) file.imports.push(found);
    else if (ts.isStringLiteralLike(node)) file.strings.push(node.text);
    else if (ts.isTemplateExpression(node)) file.strings.push(node.getText(tree));
    else if (ts.isCallExpression(node)) file.calls.push(node.expression.getText(tree));
    else if (ts.isTypeReferenceNode(node)) file.types.push(node.typeName.getText(tree));
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return file;
}

/**
 * The files below `folder` (from `root`) whose name has one of `endings`, sorted, without those that git ignores; empty if there is no such
 * folder.
 */
export function listFiles(root: string, folder: string, endings: readonly string[]): string[] {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', `${folder}/`];
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ls-files fails: ${stderr}`);
  return [...new Set(stdout.split('\0'))]
    .filter(path => endings.some(ending => path.endsWith(ending)))
    .filter(path => existsSync(join(root, path)))
    .toSorted();
}

/** Reads and parses the files of `listFiles`. */
export function readSources(
  root: string,
  folder: string,
  endings: readonly string[] = ['.ts', '.mjs'],
): SourceFile[] {
  return listFiles(root, folder, endings).map(path =>
    parseSource(path, readFileSync(join(root, path), 'utf8')),
  );
}

function toImport(node: ts.Node, path: string): Import | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
    if (!node.moduleSpecifier || !ts.isStringLiteral(node.moduleSpecifier)) return undefined;
    const { names, typeOnly } = ts.isImportDeclaration(node) ? fromImport(node) : fromExport(node);
    return createImport(node.moduleSpecifier.text, path, names, typeOnly);
  }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    const argument = node.arguments[0];
    return argument && ts.isStringLiteralLike(argument)
      ? createImport(argument.text, path, [], false)
      : undefined;
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    const { literal } = node.argument;
    const names = node.qualifier ? [node.qualifier.getText()] : [];
    return ts.isStringLiteral(literal) ? createImport(literal.text, path, names, true) : undefined;
  }
  return undefined;
}

function createImport(specifier: string, from: string, names: string[], typeOnly: boolean): Import {
  const file = specifier.startsWith('.') ? posix.join(posix.dirname(from), specifier) : undefined;
  return { specifier, file, names, typeOnly };
}

function fromImport(node: ts.ImportDeclaration): Pick<Import, 'names' | 'typeOnly'> {
  const clause = node.importClause;
  if (!clause) return { names: [], typeOnly: false };
  const bindings = clause.namedBindings;
  const elements = bindings && ts.isNamedImports(bindings) ? [...bindings.elements] : [];
  const names = elements.map(element => (element.propertyName ?? element.name).text);
  if (clause.name) names.push('default');
  const onlyTypes =
    elements.length > 0 && !clause.name && elements.every(element => element.isTypeOnly);
  return { names, typeOnly: clause.phaseModifier === ts.SyntaxKind.TypeKeyword || onlyTypes };
}

function fromExport(node: ts.ExportDeclaration): Pick<Import, 'names' | 'typeOnly'> {
  const clause = node.exportClause;
  const elements = clause && ts.isNamedExports(clause) ? [...clause.elements] : [];
  const names = elements.map(element => (element.propertyName ?? element.name).text);
  const onlyTypes = elements.length > 0 && elements.every(element => element.isTypeOnly);
  return { names, typeOnly: node.isTypeOnly || onlyTypes };
}

function toModuleVariables(statement: ts.VariableStatement): ModuleVariable[] {
  const { flags, declarations } = statement.declarationList;
  const kind = flags & ts.NodeFlags.Const ? 'const' : flags & ts.NodeFlags.Let ? 'let' : 'var';
  return declarations.map(declaration => ({
    name: declaration.name.getText(),
    kind,
    madeBy: toMaker(declaration.initializer),
  }));
}

function toMaker(value: ts.Expression | undefined): string | undefined {
  if (!value) return undefined;
  if (ts.isAwaitExpression(value)) return toMaker(value.expression);
  if (ts.isNewExpression(value) || ts.isCallExpression(value)) return value.expression.getText();
  return undefined;
}
