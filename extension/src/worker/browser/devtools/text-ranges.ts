/** TextRange is a range of characters in a text, from the index `start` up to, but not including, the index `end`. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** TextRanges is a set of character positions in a text, stored as ranges that do not overlap. */
export class TextRanges {
  #ranges: readonly TextRange[] = [];

  get length(): number {
    return this.#ranges.reduce((total, { start, end }) => total + end - start, 0);
  }

  add(addedRange: TextRange): void {
    if (!(addedRange.end > addedRange.start)) return;
    const touchingRanges = this.#ranges.filter(({ start, end }) => start <= addedRange.end && end >= addedRange.start);
    const otherRanges = this.#ranges.filter((range) => !touchingRanges.includes(range));
    const start = Math.min(addedRange.start, ...touchingRanges.map((range) => range.start));
    const end = Math.max(addedRange.end, ...touchingRanges.map((range) => range.end));
    this.#ranges = [...otherRanges, { start, end }];
  }
}
