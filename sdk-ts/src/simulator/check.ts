import { hasProperties, isMethod, type Properties } from '../runtime/value.ts';
import { SimulatedCallError } from './failure.ts';
import { addFailureHint, findJsonLosses } from './failures.ts';

export function checkInput(toolDefinition: Properties, kind: 'tools' | 'prompts', args: unknown): unknown {
  const name = String(toolDefinition.name);
  if (!hasProperties(args) || Array.isArray(args))
    throw makeInvalidArgumentsError(name, 'the arguments are not an object');
  const input: unknown = JSON.parse(JSON.stringify(args) ?? '{}');
  const schema = kind === 'tools' ? toolDefinition.input : toolDefinition.args;
  if (!hasProperties(schema) || !isMethod(schema.safeParse)) return input;
  const schemaShape = hasProperties(schema.shape) ? schema.shape : undefined;
  const zodDefinition = hasProperties(schema.def) ? schema.def : {};
  if (schemaShape && zodDefinition.catchall === undefined && hasProperties(input)) {
    const unknownKeys = Object.keys(input).filter((key) => !Object.hasOwn(schemaShape, key));
    const allowedFieldNames = Object.keys(schemaShape).join(', ');
    if (unknownKeys.length > 0)
      throw makeInvalidArgumentsError(
        name,
        unknownKeys.map((key) => `${key}: unknown argument; allowed: ${allowedFieldNames}`).join('\n'),
      );
  }
  const parseResult: unknown = Reflect.apply(schema.safeParse, schema, [input]);
  if (hasProperties(parseResult) && parseResult.success === true) return parseResult.data;
  throw makeInvalidArgumentsError(
    name,
    formatIssues(hasProperties(parseResult) ? parseResult.error : undefined, 'arguments'),
  );
}

function makeInvalidArgumentsError(name: string, issuesText: string): SimulatedCallError {
  return new SimulatedCallError('invalid_arguments', `the arguments of ${name} are not valid:\n${issuesText}`);
}

export function checkOutput(toolDefinition: Properties, kind: 'tools' | 'prompts', returnedValue: unknown): unknown {
  let outputJson: string | undefined;
  const schema = kind === 'tools' ? toolDefinition.output : undefined;
  try {
    for (const hint of findJsonLosses(String(toolDefinition.name), returnedValue, schema)) addFailureHint(hint);
    outputJson = JSON.stringify(returnedValue, (_key, member: unknown) =>
      typeof member === 'bigint' ? Number(member) : member,
    );
  } catch (error) {
    throw new SimulatedCallError(
      'invalid_result',
      `the tool ${String(toolDefinition.name)} returned a value that JSON cannot represent: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  const parsedOutput: unknown = outputJson === undefined ? undefined : JSON.parse(outputJson);
  if (!hasProperties(schema) || !isMethod(schema.safeParse)) return parsedOutput;
  const parseResult: unknown = Reflect.apply(schema.safeParse, schema, [parsedOutput]);
  if (hasProperties(parseResult) && parseResult.success === true) return parsedOutput;
  throw new SimulatedCallError(
    'invalid_result',
    `the result does not match the output schema:\n${formatIssues(hasProperties(parseResult) ? parseResult.error : undefined, 'result')}`,
  );
}

function formatIssues(error: unknown, rootPath: string): string {
  const issuesText: unknown = hasProperties(error) ? error.issues : undefined;
  if (!Array.isArray(issuesText)) return 'it is not valid';
  return issuesText
    .map((issue: unknown) => {
      const path = hasProperties(issue) && Array.isArray(issue.path) ? issue.path.map(String).join('.') : '';
      return `${path || rootPath}: ${hasProperties(issue) ? String(issue.message) : 'invalid'}`;
    })
    .join('\n');
}
