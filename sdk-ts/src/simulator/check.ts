import { type Bag, isBag, isMethod } from '../runtime/value.ts';
import { Failure } from './failure.ts';

/** Parses the arguments as server and page do: unknown ones are refused, defaults are filled in. */
export function checkInput(found: Bag, kind: 'tools' | 'prompts', given: unknown): unknown {
  const name = String(found.name);
  if (!isBag(given) || Array.isArray(given)) throw invalid(name, 'the arguments are no object');
  const input: unknown = JSON.parse(JSON.stringify(given) ?? '{}');
  const schema = kind === 'tools' ? found.input : found.args;
  if (!isBag(schema) || !isMethod(schema.safeParse)) return input;
  const shape = isBag(schema.shape) ? schema.shape : undefined;
  const definition = isBag(schema.def) ? schema.def : {};
  if (shape && definition.catchall === undefined && isBag(input)) {
    const unknown = Object.keys(input).filter((key) => !Object.hasOwn(shape, key));
    if (unknown.length > 0)
      throw invalid(name, `${unknown.join(', ')} is not known; it takes ${Object.keys(shape).join(', ')}`);
  }
  const parsed: unknown = Reflect.apply(schema.safeParse, schema, [input]);
  if (isBag(parsed) && parsed.success === true) return parsed.data;
  throw invalid(name, issues(isBag(parsed) ? parsed.error : undefined, 'arguments'));
}

function invalid(name: string, what: string): Failure {
  return new Failure('invalid_arguments', `the arguments of ${name} are not valid:\n${what}`);
}

/** Makes the result what the agent gets, and checks it by the tool's schema. */
export function checkOutput(found: Bag, kind: 'tools' | 'prompts', value: unknown): unknown {
  let text: string | undefined;
  try {
    text = JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? Number(member) : member));
  } catch (error) {
    throw new Failure(
      'invalid_result',
      `the result is not JSON: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  const result: unknown = text === undefined ? undefined : JSON.parse(text);
  const schema = kind === 'tools' ? found.output : undefined;
  if (!isBag(schema) || !isMethod(schema.safeParse)) return result;
  const parsed: unknown = Reflect.apply(schema.safeParse, schema, [result]);
  if (isBag(parsed) && parsed.success === true) return result;
  throw new Failure(
    'invalid_result',
    `the result does not match the output schema:\n${issues(isBag(parsed) ? parsed.error : undefined, 'result')}`,
  );
}

/** Writes what zod found wrong, a line each. */
function issues(error: unknown, whole: string): string {
  const list: unknown = isBag(error) ? error.issues : undefined;
  if (!Array.isArray(list)) return 'it is not valid';
  return list
    .map((issue: unknown) => {
      const path = isBag(issue) && Array.isArray(issue.path) ? issue.path.map(String).join('.') : '';
      return `${path || whole}: ${isBag(issue) ? String(issue.message) : 'invalid'}`;
    })
    .join('\n');
}
