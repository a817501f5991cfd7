// The badge on the toolbar's icon says at a glance what needs the person: no link, questions that wait, calls that run.

/** BadgeMs is the least time between two looks at what the badge shows, so that short calls don't make it flicker. */
const BadgeMs = 300;

const colors = { bad: '#b3261e', asks: '#8a5a00', runs: '#1a6b54' } as const;

/** Glance is what the badge is made from. */
export interface Glance {
  readonly linked: boolean;
  /** waiting counts the calls that wait for a person, running those that run in this browser. */
  readonly waiting: number;
  readonly running: number;
}

export interface BadgeOptions {
  glance(): Glance;
  /** draw shows a text of at most four characters; title is read out and shown under the pointer. */
  draw(text: string, color: string, title: string): void;
}

/** makeBadge returns a function that has the badge drawn soon, if it changed. */
export function makeBadge({ glance, draw }: BadgeOptions): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let shown: string | undefined;
  const look = () => {
    timer = undefined;
    const { text, color, title } = badgeOf(glance());
    if (title === shown) return;
    shown = title;
    draw(text, color, title);
  };
  return () => {
    if (timer === undefined) timer = setTimeout(look, BadgeMs);
  };
}

/** badgeOf returns what the badge shows. */
export function badgeOf({ linked, waiting, running }: Glance): { text: string; color: string; title: string } {
  if (!linked) return { text: '!', color: colors.bad, title: 'opentabs: not connected' };
  if (waiting > 0) {
    const title = waiting === 1 ? 'opentabs: a call waits for you' : `opentabs: ${waiting} calls wait for you`;
    return { text: `${count(waiting)}?`, color: colors.asks, title };
  }
  if (running > 0) return { text: count(running), color: colors.runs, title: `opentabs: running ${running}` };
  return { text: '', color: colors.runs, title: 'opentabs' };
}

function count(n: number): string {
  return n > 99 ? '99' : String(n);
}
