import { detach } from './detach.ts';
import { issuesText, messageOf } from './failure.ts';
import { apply, isFn, isObject, lookup, whenSettled } from './primordials.ts';
import { withPristineBuiltIns } from './pristine.ts';

/** Parsing is what becomes of the arguments of a call: exactly one of its functions is called, once. */
export interface Parsing {
  /** valid gets the arguments as the schema returned them, detached from the page. */
  valid(params: unknown): void;
  /** invalid gets what is wrong with them, one line each. */
  invalid(issues: string): void;
  /** unsafe gets why no schema can run in this page. */
  unsafe(why: string): void;
}

/** Outcome is what a schema returned, read while the built-ins were pristine. */
type Outcome =
  | { readonly kind: 'valid'; readonly params: unknown }
  | { readonly kind: 'invalid'; readonly issues: string }
  | { readonly kind: 'unsafe'; readonly why: string }
  | { readonly kind: 'later'; readonly promise: unknown };

/**
 * parseWith has a schema check arguments, so that its defaults and transforms apply. A schema is code that looks up shared
 * built-ins at each step, so it runs with pristine ones. Without a schema the arguments are valid as they are.
 */
export function parseWith(schema: unknown, args: unknown, parsing: Parsing): void {
  const given = detach(args);
  if (!isObject(schema)) {
    parsing.valid(given);
    return;
  }
  const parse = (): Outcome => {
    // zod makes its methods when they are first asked for.
    const safeParse = lookup(schema, 'safeParse');
    if (!isFn(safeParse)) return { kind: 'valid', params: given };
    try {
      return read(apply(safeParse, schema, [given]));
    } catch (error) {
      // A schema with an asynchronous check refuses the synchronous way.
      const safeParseAsync = lookup(schema, 'safeParseAsync');
      if (!isFn(safeParseAsync)) throw error;
      return { kind: 'later', promise: apply(safeParseAsync, schema, [given]) };
    }
  };
  const refuse = (why: string): Outcome => ({ kind: 'unsafe', why });
  const outcome = withPristineBuiltIns(parse, refuse);
  if (outcome.kind !== 'later') {
    finish(outcome, parsing);
    return;
  }
  whenSettled(
    outcome.promise,
    (parsed) =>
      finish(
        withPristineBuiltIns(() => readLate(parsed), refuse),
        parsing,
      ),
    (error) => parsing.invalid(messageOf(error)),
  );
}

/** read reads a schema's answer. Its error makes its text when it is asked for it. */
function read(parsed: unknown): Outcome {
  if (!isObject(parsed)) return { kind: 'invalid', issues: 'the tool has a schema that does not answer' };
  if (lookup(parsed, 'success') === true) return { kind: 'valid', params: detach(lookup(parsed, 'data')) };
  return { kind: 'invalid', issues: issuesText(lookup(parsed, 'error')) };
}

function readLate(parsed: unknown): Outcome {
  try {
    return read(parsed);
  } catch (error) {
    return { kind: 'invalid', issues: messageOf(error) };
  }
}

function finish(outcome: Outcome, parsing: Parsing): void {
  switch (outcome.kind) {
    case 'valid':
      parsing.valid(outcome.params);
      return;
    case 'invalid':
      parsing.invalid(outcome.issues);
      return;
    case 'unsafe':
      parsing.unsafe(outcome.why);
      return;
    case 'later':
      return;
  }
}
