import { detachFromPagePrototypes } from './detach.ts';
import { formatIssues, readMessage } from './failure.ts';
import { apply, isFn, isObject, lookup, whenSettled } from './primordials.ts';
import { withPristineBuiltIns } from './pristine.ts';
import { compileParser, findParser, NotSimpleValue } from './simple-schema.ts';

/** parseArguments calls exactly one of the three ParseCallbacks, exactly once. */
export interface ParseCallbacks {
  /** onValid receives valid arguments, whose objects no longer inherit from prototypes that the page can change. */
  onValid(params: unknown): void;
  /** onInvalid receives a description of all validation issues, one per line. */
  onInvalid(issues: string): void;
  /**
   * onUnsafe receives the reason why running schemas is unsafe, such as a built-in function that the page has changed.
   */
  onUnsafe(reason: string): void;
}

type ParseOutcome =
  | { readonly kind: 'valid'; readonly params: unknown }
  | { readonly kind: 'invalid'; readonly issues: string }
  | { readonly kind: 'unsafe'; readonly why: string }
  | { readonly kind: 'later'; readonly promise: unknown };

/**
 * parseArguments validates arguments with a schema, which can add defaults and transform values. The code of a schema
 * uses shared built-in functions at each step, so parseArguments runs the schema with unmodified built-in functions.
 */
export function parseArguments(schema: unknown, args: unknown, parseCallbacks: ParseCallbacks): void {
  if (!isObject(schema)) {
    parseCallbacks.onValid(detachFromPagePrototypes(args));
    return;
  }
  const simpleParser = findParser(schema);
  const params = simpleParser ? simpleParser(args) : NotSimpleValue;
  if (params !== NotSimpleValue) {
    parseCallbacks.onValid(params);
    return;
  }
  const detachedArgs = detachFromPagePrototypes(args);
  const runParse = (): ParseOutcome => {
    // zod creates the method safeParse in a getter, when the method is first read.
    const safeParse = lookup(schema, 'safeParse');
    if (!isFn(safeParse)) return { kind: 'valid', params: detachedArgs };
    try {
      compileParser(schema);
      return readResult(apply(safeParse, schema, [detachedArgs]));
    } catch (error) {
      // zod's safeParse throws if the schema has an asynchronous check.
      const safeParseAsync = lookup(schema, 'safeParseAsync');
      if (!isFn(safeParseAsync)) throw error;
      return { kind: 'later', promise: apply(safeParseAsync, schema, [detachedArgs]) };
    }
  };
  const makeUnsafeOutcome = (restoreFailureReason: string): ParseOutcome => ({
    kind: 'unsafe',
    why: restoreFailureReason,
  });
  const parseOutcome = withPristineBuiltIns(runParse, makeUnsafeOutcome);
  if (parseOutcome.kind !== 'later') {
    deliverOutcome(parseOutcome, parseCallbacks);
    return;
  }
  whenSettled(
    parseOutcome.promise,
    (parsedArguments) =>
      deliverOutcome(
        withPristineBuiltIns(() => readAsyncResult(parsedArguments), makeUnsafeOutcome),
        parseCallbacks,
      ),
    (error) => parseCallbacks.onInvalid(readMessage(error)),
  );
}

/** zod formats the error of a result in a getter, when the error is first read. */
function readResult(parsedArguments: unknown): ParseOutcome {
  if (!isObject(parsedArguments)) return { kind: 'invalid', issues: 'the schema of the tool returned no result' };
  if (lookup(parsedArguments, 'success') === true)
    return { kind: 'valid', params: detachFromPagePrototypes(lookup(parsedArguments, 'data')) };
  return { kind: 'invalid', issues: formatIssues(lookup(parsedArguments, 'error')) };
}

function readAsyncResult(parsedArguments: unknown): ParseOutcome {
  try {
    return readResult(parsedArguments);
  } catch (error) {
    return { kind: 'invalid', issues: readMessage(error) };
  }
}

function deliverOutcome(parseOutcome: ParseOutcome, parseCallbacks: ParseCallbacks): void {
  switch (parseOutcome.kind) {
    case 'valid':
      parseCallbacks.onValid(parseOutcome.params);
      return;
    case 'invalid':
      parseCallbacks.onInvalid(parseOutcome.issues);
      return;
    case 'unsafe':
      parseCallbacks.onUnsafe(parseOutcome.why);
      return;
    case 'later':
      return;
  }
}
