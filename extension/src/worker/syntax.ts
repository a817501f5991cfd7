import type { PluginFetchResult, PluginInfo } from '../../../wire/wire.gen.ts';
import type { Doc } from './docs.ts';

/** WORLD is the isolated world in which code is parsed: the page sees none of its errors. */
export const WORLD = 'syntax';

/** MaxProblems is how many plugins with an error are remembered. */
const MaxProblems = 200;

/** Code is what a page gets of a plugin. */
export type Code = Pick<PluginFetchResult, 'code' | 'preScript'>;

/**
 * Syntax finds code that Chrome can't parse. The server parses all code before it sends it, but its parser accepts some
 * scripts that V8 rejects, and Chrome reports the error to the console only.
 */
export interface Syntax {
  /**
   * problem has a document parse the code of a plugin, and returns why it can't be parsed; nothing if it can, or if the
   * document does not answer. The code does not run.
   */
  problem(doc: Doc, plugin: PluginInfo, code: Code): Promise<string | undefined>;
  /** known returns what problem has found of this plugin. */
  known(plugin: PluginInfo): string | undefined;
}

/** makeSyntax returns a Syntax. run runs scripts one after the other in the world WORLD of a document and returns the value of the last. */
export function makeSyntax(run: (doc: Doc, scripts: readonly [string, ...string[]]) => Promise<unknown>): Syntax {
  const found = new Map<string, string>();
  const parse = async (doc: Doc, what: string, code: string): Promise<string | undefined> => {
    // In parentheses a function is made and not called. Its first line is the wrapper's (internal/jsbuild:AdapterFunction).
    const error = readError(await run(doc, [LISTEN, `(${code}\n)`, REPORT]).catch(() => undefined));
    if (!error) return undefined;
    return `the browser can't parse the ${what}: ${error.message.replace(/^Uncaught /, '')} (line ${Math.max(1, error.line - 1)})`;
  };
  return {
    problem: async (doc, plugin, { code, preScript }) => {
      const problem =
        (await parse(doc, 'adapter', code)) ??
        (preScript === undefined ? undefined : await parse(doc, 'pre-script', preScript));
      if (problem === undefined) return undefined;
      const [oldest] = found.keys();
      if (found.size >= MaxProblems && oldest !== undefined) found.delete(oldest);
      found.set(plugin.script, problem);
      return problem;
    },
    known: ({ script }) => found.get(script),
  };
}

/** LISTEN keeps the first error of the scripts that follow; REPORT ends that, and its value is the error. */
const LISTEN = `
var opentabsParse = { error: null, heard(event) {
  event.preventDefault();
  opentabsParse.error ??= [event.message, event.lineno];
} };
addEventListener('error', opentabsParse.heard, true);`;
const REPORT = `
removeEventListener('error', opentabsParse.heard, true);
opentabsParse.error`;

function readError(value: unknown): { readonly message: string; readonly line: number } | undefined {
  if (!Array.isArray(value)) return undefined;
  const [message, line]: unknown[] = value;
  return typeof message === 'string' && typeof line === 'number' ? { message, line } : undefined;
}
