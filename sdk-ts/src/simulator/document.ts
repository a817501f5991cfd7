import { parseHTML } from '../../vendor/linkedom/worker.js';
import { isBag, isMethod } from '../runtime/value.ts';

/** What may stand in the head of a document, at the beginning of a text that has no head. */
const headPart =
  /^\s*(?:<!--[\s\S]*?-->|<(?:meta|link|base)\b[^>]*>|<(title|style|script|noscript)\b[^>]*>[\s\S]*?<\/\1\s*>)/i;

/** Makes a whole document of what a browser would take for one: linkedom adds no html, head and body by itself. */
export function wholeDocument(html: string): string {
  const text = html.replace(/^\s*<!doctype[^>]*>/i, '');
  if (/<html[\s>]/i.test(text)) return `<!doctype html>${text}`;
  if (/<body[\s>]/i.test(text)) {
    const head = /<head[\s>]/i.test(text) ? '' : '<head></head>';
    return `<!doctype html><html>${head}${text}</html>`;
  }
  let rest = text.replace(/<\/?head[^>]*>/gi, '');
  let head = '';
  for (let part = headPart.exec(rest); part; part = headPart.exec(rest)) {
    head += part[0];
    rest = rest.slice(part[0].length);
  }
  return `<!doctype html><html><head>${head}</head><body>${rest}</body></html>`;
}

/** Parses a page and returns its window. */
export function windowOf(html: string): Readonly<Record<string, unknown>> {
  return parseHTML(wholeDocument(html));
}

/** Returns a DOMParser like the one of `window`, which makes whole documents as browsers do. */
export function parserOf(window: Readonly<Record<string, unknown>>): unknown {
  return class {
    parseFromString(text: unknown, type: unknown): unknown {
      if (type === 'text/html') return windowOf(String(text)).document;
      const real: unknown =
        typeof window.DOMParser === 'function' ? Reflect.construct(window.DOMParser, []) : undefined;
      if (!isBag(real) || !isMethod(real.parseFromString)) throw new TypeError('there is no DOMParser');
      return real.parseFromString(text, type);
    }
  };
}
