// Reads formulas as text. The joined characters of MathML or of a superscript would lose their meaning.

/** readMath returns the TeX source of the formula in an element, or else the formula as one line, such as "(a+b)/c". */
export function readMath(element: Element): string {
  const math = element.localName === 'math' ? element : element.querySelector('math');
  if (!math) return '';
  const source = math.querySelector('annotation[encoding="application/x-tex"]')?.textContent?.trim();
  return source || math.getAttribute('alttext')?.trim() || joinFormula(math, 0).trim();
}

const MaxFormulaNesting = 50;

function joinFormula(element: Element, nesting: number): string {
  if (nesting > MaxFormulaNesting || /^(annotation|annotation-xml|mphantom|mspace)$/.test(element.localName)) return '';
  if (element.childElementCount === 0) return formatToken(element);
  const parts = [...element.children].map((child) => joinFormula(child, nesting + 1));
  const [first = '', second = '', third = ''] = parts;
  switch (element.localName) {
    case 'mfrac':
      return `${parenthesize(first)}/${parenthesize(second)}`;
    case 'msup':
      return `${parenthesize(first)}^${parenthesize(second)}`;
    case 'msub':
      return `${parenthesize(first)}_${parenthesize(second)}`;
    case 'msubsup':
      return `${parenthesize(first)}_${parenthesize(second)}^${parenthesize(third)}`;
    case 'msqrt':
      return `sqrt(${parts.join('')})`;
    case 'mroot':
      return `root(${first}, ${second})`;
    case 'mtable':
      return `[${parts.join('; ')}]`;
    case 'mtr':
      return parts.join(', ');
    default:
      return parts.join('');
  }
}

function formatToken(element: Element): string {
  const text = (element.textContent ?? '').trim();
  return element.localName === 'mo' && /^[=<>≤≥≠≈+−±→×]$/.test(text) ? ` ${text} ` : text;
}

function parenthesize(text: string): string {
  return /^[\p{L}\p{N}.,]*$/u.test(text) ? text : `(${text.trim()})`;
}

/** readExponent returns the text of an exponent or of a footnote mark, such as "^6" for `10<sup>6</sup>`. */
export function readExponent(element: Element): string | undefined {
  if (element.localName !== 'sup' || element.childElementCount > 0) return undefined;
  const text = element.textContent?.trim() ?? '';
  return /^[-−+]?\d{1,3}$/.test(text) ? `^${text}` : undefined;
}
