// evaluate-script.ts contains the script that browser_evaluate runs in a page. A page that has replaced built-in
// functions of its main world can falsify the result of browser_evaluate. The worker validates the result of the
// script, and limits the script's duration.

const ScriptSourceName = 'browser_evaluate.js';
/**
 * ScriptCodePrefix precedes the agent's code in the same line, so that the line numbers of the agent's code stay the
 * same.
 */
const ScriptCodePrefix = '((code, run) => run(code))(async () => (';

/**
 * makeScriptExpression wraps the agent's code in a function expression, so that Chrome parses the code without running
 * it.
 */
export function makeScriptExpression(code: string): string {
  return `${ScriptCodePrefix}${removeTrailingSemicolon(code)}\n), () => undefined)`;
}

/** removeTrailingSemicolon removes semicolons at the end of the code, which are not allowed inside parentheses. */
function removeTrailingSemicolon(code: string): string {
  return code.replace(/[\s;]+$/, '');
}

/**
 * makeEvaluateScript returns a script that runs the agent's code. The value of the evaluation script is a promise of a
 * text, which readEvaluateAnswer parses. The parameter `element` is a JavaScript expression for the argument of the
 * agent's function.
 */
export function makeEvaluateScript(code: string, element: string): string {
  return `${ScriptCodePrefix}${removeTrailingSemicolon(code)}\n), (${ScriptRunnerSource})(() => (${element})))\n//# sourceURL=${ScriptSourceName}\n`;
}

/**
 * makeSharedElementExpression returns a JavaScript expression that evaluates to the DOM node that a page script has
 * shared under a name.
 */
export function makeSharedElementExpression(name: string): string {
  const key = JSON.stringify(name);
  return `((lent) => { let node; CSS.highlights.delete(${key}); lent.forEach((range) => { node = range.startContainer; }); return node; })(CSS.highlights.get(${key}))`;
}

export type EvaluateAnswer =
  | { readonly kind: 'undefined' }
  | {
      readonly kind: 'json';
      readonly json: string;
      /**
       * hasReplacedValues is true if the result contains texts such as "[circular]" for values that JSON cannot
       * represent.
       */
      readonly hasReplacedValues: boolean;
      readonly isTruncated: boolean;
    }
  | { readonly kind: 'error'; readonly message: string; readonly line?: number; readonly column?: number };

/** MaxResultCharacters limits the JSON text of a result, in UTF-16 code units. */
export const MaxResultCharacters = 2_000_000;
/** An answer longer than MaxAnswerCharacters proves that the page has tampered with the evaluation script. */
const MaxAnswerCharacters = MaxResultCharacters + 100_000;
const MaxMessageCharacters = 1000;

/**
 * For an invalid answer, readEvaluateAnswer returns undefined. The parameter `prefixCharacters` is how many characters
 * precede the script in the first line.
 */
export function readEvaluateAnswer(value: unknown, code: string, prefixCharacters = 0): EvaluateAnswer | undefined {
  if (typeof value !== 'string' || value.length > MaxAnswerCharacters) return undefined;
  if (value === 'undefined:') return { kind: 'undefined' };
  const [, kind, marks = ''] = /^(json|error)(\+text|\+cut|\+text\+cut)?:/.exec(value) ?? [];
  const answerText = value.slice(value.indexOf(':') + 1);
  if (kind === 'json')
    return { kind, json: answerText, hasReplacedValues: marks.includes('text'), isTruncated: marks.includes('cut') };
  return kind === 'error' ? readError(answerText, code, prefixCharacters) : undefined;
}

function readError(answerText: string, code: string, prefixCharacters: number): EvaluateAnswer | undefined {
  const newlineIndex = answerText.indexOf('\n');
  if (newlineIndex < 0) return undefined;
  const messageLength = Number(answerText.slice(0, newlineIndex));
  const scriptMessage = answerText
    .slice(newlineIndex + 1, newlineIndex + 1 + messageLength)
    .slice(0, MaxMessageCharacters);
  return {
    kind: 'error',
    message: scriptMessage,
    ...findCodePosition(answerText.slice(newlineIndex + 1 + messageLength), code, prefixCharacters),
  };
}

function findCodePosition(
  stack: string,
  code: string,
  prefixCharacters: number,
): { line: number; column: number } | undefined {
  const lineCount = removeTrailingSemicolon(code).split('\n').length;
  for (const [, lineText, columnText] of stack.matchAll(/browser_evaluate\.js:(\d+):(\d+)/g)) {
    const line = Number(lineText);
    const column = Number(columnText) - (line === 1 ? ScriptCodePrefix.length + prefixCharacters : 0);
    if (line <= lineCount && column > 0) return { line, column };
  }
  return undefined;
}

/**
 * ScriptRunnerSource is the source of a function that runs the agent's code and writes the result as JSON.
 * ScriptRunnerSource contains its own JSON writer, because page libraries that define Array.prototype.toJSON change the
 * result of JSON.stringify.
 */
const ScriptRunnerSource = `(readElement) => async (code) => {
  const limit = ${MaxResultCharacters};
  let out = '';
  let hasText = false;
  const add = (text) => { out += text; };
  const quote = (text) => {
    const length = text.length;
    let quoted = '"';
    for (let i = 0; i < length && i <= limit; i++) {
      const c = text[i];
      if (c === '"' || c === '\\\\') quoted += '\\\\' + c;
      else if (c >= ' ') quoted += c;
      else if (c === '\\n') quoted += '\\\\n';
      else if (c === '\\t') quoted += '\\\\t';
      else if (c === '\\r') quoted += '\\\\r';
      else quoted += '\\\\u' + (c.charCodeAt(0) + 0x10000).toString(16).slice(1);
    }
    return quoted + '"';
  };
  const addText = (text) => { hasText = true; add(quote(text)); };
  const nodeText = (node) => {
    if (node.nodeType === 9) return '[document]';
    if (node.nodeType !== 1) return '[' + node.nodeName + ' ' + ('' + node.nodeValue).slice(0, 200) + ']';
    const html = node.cloneNode(false).outerHTML;
    return html.length > 300 ? html.slice(0, 300) + '...' : html;
  };
  const addList = (list, path) => {
    add('[');
    for (let i = 0; i < list.length; i++) {
      if (i > 0) add(',');
      write(list[i], path);
    }
    add(']');
  };
  const addMembers = (keys, read, path) => {
    let isFirst = true;
    add('{');
    for (let i = 0; i < keys.length; i++) {
      let value, problem;
      try { value = read(keys[i]); } catch (error) { problem = '[threw ' + error + ']'; }
      const type = typeof value;
      if (problem === undefined && (type === 'undefined' || type === 'function' || type === 'symbol')) continue;
      add((isFirst ? '' : ',') + quote(keys[i]) + ':');
      isFirst = false;
      if (problem === undefined) write(value, path); else addText(problem);
    }
    add('}');
  };
  const textOf = (value) => {
    if (typeof value.nodeType === 'number' && typeof value.nodeName === 'string') return nodeText(value);
    if (value.window === value) return '[window]';
    if (typeof value.then === 'function') return '[promise]';
    if (value instanceof RegExp) return '' + value;
    if (value instanceof ArrayBuffer) return '[ArrayBuffer of ' + value.byteLength + ' bytes]';
    if (value instanceof WeakMap || value instanceof WeakSet) return '[' + value.constructor.name + ']';
  };
  const addObject = (value, path) => {
    const prototype = Object.getPrototypeOf(value);
    const isPlain = prototype === null || prototype === Object.prototype;
    if (Array.isArray(value)) return addList(value, path);
    if (typeof value.toJSON === 'function' && (!isPlain || Object.hasOwn(value, 'toJSON'))) return write(value.toJSON(), path);
    if (isPlain) return addMembers(Object.keys(value), (key) => value[key], path);
    if (value instanceof Error) return addMembers(['name', 'message', 'stack'], (key) => value[key], path);
    const primitive = typeof value.valueOf === 'function' ? value.valueOf() : value;
    if (typeof primitive !== 'object' && typeof primitive !== 'function') return write(primitive, path);
    if (typeof value.getPropertyValue === 'function')
      return addMembers([...value], (key) => value.getPropertyValue(key), path);
    const isMap = value instanceof Map;
    if (isMap || value instanceof Set) return addList([...value], path);
    if (typeof value.length === 'number' && typeof value[Symbol.iterator] === 'function') return addList(value, path);
    addMembers(Object.keys(value), (key) => value[key], path);
  };
  const write = (value, path) => {
    if (out.length > limit) throw addText;
    if (value === null || value === undefined) return add('null');
    if (typeof value === 'string') return add(quote(value));
    if (typeof value === 'boolean') return add(value ? 'true' : 'false');
    if (typeof value === 'number') return value - value === 0 ? add('' + value) : addText('' + value);
    if (typeof value === 'bigint') return addText(value + 'n');
    if (typeof value === 'symbol') return addText('[' + String(value) + ']');
    for (let i = 0; i < path.length; i++) if (path[i] === value) return addText('[circular]');
    if (path.length === 100) return addText('[too deep]');
    const start = out;
    try {
      const text = typeof value === 'function' ? '[function ' + value.name + ']' : textOf(value);
      if (text !== undefined) return addText(text);
      addObject(value, [...path, value]);
    } catch (error) {
      if (error === addText) throw error;
      out = start;
      addText('[object that cannot be read: ' + error + ']');
    }
  };
  const failure = (error) => {
    let message = '', stack = '';
    try {
      stack = '' + error.stack;
      message = '' + error;
    } catch {}
    if (message === '[object Object]' || message === '') {
      out = '';
      write(error, []);
      message = out;
    }
    message = message.slice(0, ${MaxMessageCharacters});
    return 'error:' + message.length + '\\n' + message + stack.slice(0, 10000);
  };
  try {
    const element = readElement();
    let value = await code();
    if (typeof value === 'function') value = await value(element);
    if (value === undefined) return 'undefined:';
    let isCut = false;
    try { write(value, []); } catch (error) {
      if (error !== addText) throw error;
      isCut = true;
    }
    if (out.length > limit) {
      isCut = true;
      out = out.slice(0, limit);
    }
    return 'json' + (hasText ? '+text' : '') + (isCut ? '+cut' : '') + ':' + out;
  } catch (error) {
    return failure(error);
  }
}`;
