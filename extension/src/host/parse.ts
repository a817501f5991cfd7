import { detachFromPage } from './detach.ts';
import { issuesText, messageOf } from './failure.ts';
import { apply, isFn, isObject, lookup, whenSettled } from './primordials.ts';
import { withPristineBuiltIns } from './pristine.ts';
import { compileParser, findParser, notParsed } from './simple-schema.ts';

/** ParseCallbacks receives the outcome of parsing arguments. Exactly one function of ParseCallbacks is called, once. */
export interface ParseCallbacks {
  /** onValid receives the output of the schema, detached from the page. */
  onValid(params: unknown): void;
  /** onInvalid receives the text of all issues, one issue per line. */
  onInvalid(issues: string): void;
  /** onUnsafe receives the reason why no schema can run in this page. */
  onUnsafe(reason: string): void;
}

/** ParseOutcome is the result of a schema, read with pristine built-ins. */
type ParseOutcome =
  | { readonly kind: 'valid'; readonly params: unknown }
  | { readonly kind: 'invalid'; readonly issues: string }
  | { readonly kind: 'unsafe'; readonly why: string }
  | { readonly kind: 'later'; readonly promise: unknown };

/**
 * parseWith parses arguments with a schema and its defaults and transforms. The code of a schema looks up shared
 * built-ins at each step, so the schema runs with pristine built-ins. Without a schema, all arguments are valid and
 * stay unchanged.
 */
export function parseWith(schema: unknown, args: unknown, parsing: ParseCallbacks): void {
  if (!isObject(schema)) {
    parsing.onValid(detachFromPage(args));
    return;
  }
  const simple = findParser(schema);
  const params = simple ? simple(args) : notParsed;
  if (params !== notParsed) {
    parsing.onValid(params);
    return;
  }
  const detachedArgs = detachFromPage(args);
  const parse = (): ParseOutcome => {
    // A getter of zod creates the method safeParse at the first access.
    const safeParse = lookup(schema, 'safeParse');
    if (!isFn(safeParse)) return { kind: 'valid', params: detachedArgs };
    try {
      compileParser(schema);
      return readResult(apply(safeParse, schema, [detachedArgs]));
    } catch (error) {
      // safeParse throws if the schema has an asynchronous check.
      const safeParseAsync = lookup(schema, 'safeParseAsync');
      if (!isFn(safeParseAsync)) throw error;
      return { kind: 'later', promise: apply(safeParseAsync, schema, [detachedArgs]) };
    }
  };
  const makeUnsafe = (why: string): ParseOutcome => ({ kind: 'unsafe', why });
  const outcome = withPristineBuiltIns(parse, makeUnsafe);
  if (outcome.kind !== 'later') {
    deliver(outcome, parsing);
    return;
  }
  whenSettled(
    outcome.promise,
    (parsed) =>
      deliver(
        withPristineBuiltIns(() => readAsyncResult(parsed), makeUnsafe),
        parsing,
      ),
    (error) => parsing.onInvalid(messageOf(error)),
  );
}

/**
 * readResult converts the result of a schema to a ParseOutcome. A getter of zod formats the error of a schema's result
 * at the first access.
 */
function readResult(parsed: unknown): ParseOutcome {
  if (!isObject(parsed)) return { kind: 'invalid', issues: 'the schema of the tool returned no result' };
  if (lookup(parsed, 'success') === true) return { kind: 'valid', params: detachFromPage(lookup(parsed, 'data')) };
  return { kind: 'invalid', issues: issuesText(lookup(parsed, 'error')) };
}

function readAsyncResult(parsed: unknown): ParseOutcome {
  try {
    return readResult(parsed);
  } catch (error) {
    return { kind: 'invalid', issues: messageOf(error) };
  }
}

function deliver(outcome: ParseOutcome, parsing: ParseCallbacks): void {
  switch (outcome.kind) {
    case 'valid':
      parsing.onValid(outcome.params);
      return;
    case 'invalid':
      parsing.onInvalid(outcome.issues);
      return;
    case 'unsafe':
      parsing.onUnsafe(outcome.why);
      return;
    case 'later':
      return;
  }
}
