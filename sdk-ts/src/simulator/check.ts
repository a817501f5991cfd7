import { hasProperties, isMethod, type Properties } from '../runtime/value.ts';
import { SimulatedCallError } from './failure.ts';
import { addHint, findJsonLosses } from './failures.ts';

export function checkInput(definition: Properties, kind: 'tools' | 'prompts', args: unknown): unknown {
  const name = String(definition.name);
  if (!hasProperties(args) || Array.isArray(args))
    throw makeInvalidArgumentsError(name, 'the arguments are not an object');
  const input: unknown = JSON.parse(JSON.stringify(args) ?? '{}');
  const schema = kind === 'tools' ? definition.input : definition.args;
  if (!hasProperties(schema) || !isMethod(schema.safeParse)) return input;
  const shape = hasProperties(schema.shape) ? schema.shape : undefined;
  const zodDefinition = hasProperties(schema.def) ? schema.def : {};
  if (shape && zodDefinition.catchall === undefined && hasProperties(input)) {
    const unknownKeys = Object.keys(input).filter((key) => !Object.hasOwn(shape, key));
    const allowed = Object.keys(shape).join(', ');
    if (unknownKeys.length > 0)
      throw makeInvalidArgumentsError(
        name,
        unknownKeys.map((key) => `${key}: unknown argument; allowed: ${allowed}`).join('\n'),
      );
  }
  const parsed: unknown = Reflect.apply(schema.safeParse, schema, [input]);
  if (hasProperties(parsed) && parsed.success === true) return parsed.data;
  throw makeInvalidArgumentsError(name, formatIssues(hasProperties(parsed) ? parsed.error : undefined, 'arguments'));
}

function makeInvalidArgumentsError(name: string, issues: string): SimulatedCallError {
  return new SimulatedCallError('invalid_arguments', `the arguments of ${name} are not valid:\n${issues}`);
}

export function checkOutput(definition: Properties, kind: 'tools' | 'prompts', value: unknown): unknown {
  let text: string | undefined;
  const schema = kind === 'tools' ? definition.output : undefined;
  try {
    for (const hint of findJsonLosses(String(definition.name), value, schema)) addHint(hint);
    text = JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? Number(member) : member));
  } catch (error) {
    throw new SimulatedCallError(
      'invalid_result',
      `the tool ${String(definition.name)} returned a value that JSON cannot represent: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  const result: unknown = text === undefined ? undefined : JSON.parse(text);
  if (!hasProperties(schema) || !isMethod(schema.safeParse)) return result;
  const parsed: unknown = Reflect.apply(schema.safeParse, schema, [result]);
  if (hasProperties(parsed) && parsed.success === true) return result;
  throw new SimulatedCallError(
    'invalid_result',
    `the result does not match the output schema:\n${formatIssues(hasProperties(parsed) ? parsed.error : undefined, 'result')}`,
  );
}

function formatIssues(error: unknown, rootPath: string): string {
  const issues: unknown = hasProperties(error) ? error.issues : undefined;
  if (!Array.isArray(issues)) return 'it is not valid';
  return issues
    .map((issue: unknown) => {
      const path = hasProperties(issue) && Array.isArray(issue.path) ? issue.path.map(String).join('.') : '';
      return `${path || rootPath}: ${hasProperties(issue) ? String(issue.message) : 'invalid'}`;
    })
    .join('\n');
}
