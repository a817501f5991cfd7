import { parseHTML } from '../../vendor/linkedom/worker.js';
import { hasProperties, isMethod } from '../runtime/value.ts';

const headElementPattern =
  /^\s*(?:<!--[\s\S]*?-->|<(?:meta|link|base)\b[^>]*>|<(title|style|script|noscript)\b[^>]*>[\s\S]*?<\/\1\s*>)/i;

/** addMissingHtmlTags adds tags as a browser would, because the HTML parser linkedom does not. */
function addMissingHtmlTags(html: string): string {
  const htmlText = html.replace(/^\s*<!doctype[^>]*>/i, '');
  if (/<html[\s>]/i.test(htmlText)) return `<!doctype html>${htmlText}`;
  if (/<body[\s>]/i.test(htmlText)) {
    const headTag = /<head[\s>]/i.test(htmlText) ? '' : '<head></head>';
    return `<!doctype html><html>${headTag}${htmlText}</html>`;
  }
  let bodyHtml = htmlText.replace(/<\/?head[^>]*>/gi, '');
  let headTag = '';
  for (
    let headElement = headElementPattern.exec(bodyHtml);
    headElement;
    headElement = headElementPattern.exec(bodyHtml)
  ) {
    headTag += headElement[0];
    bodyHtml = bodyHtml.slice(headElement[0].length);
  }
  return `<!doctype html><html><head>${headTag}</head><body>${bodyHtml}</body></html>`;
}

export function parseToWindow(html: string): Readonly<Record<string, unknown>> {
  return parseHTML(addMissingHtmlTags(html));
}

export function makeParserClass(window: Readonly<Record<string, unknown>>): unknown {
  return class {
    parseFromString(htmlText: unknown, type: unknown): unknown {
      if (type === 'text/html') return parseToWindow(String(htmlText)).document;
      const linkedomParser: unknown =
        typeof window.DOMParser === 'function' ? Reflect.construct(window.DOMParser, []) : undefined;
      if (!hasProperties(linkedomParser) || !isMethod(linkedomParser.parseFromString))
        throw new TypeError('DOMParser is not available');
      return linkedomParser.parseFromString(htmlText, type);
    }
  };
}
