import colors from 'picocolors'

export type DemoLog = {
  /** The question, in one line. */
  step(title: string, asked: string): void
  /** The result, in one line. */
  happened(text: string, fields?: Readonly<Record<string, unknown>>): void
  /** A wallet call, an event or a webhook under it. */
  detail(
    kind: 'wallet' | 'event' | 'webhook' | 'verify',
    text: string,
    fields?: Readonly<Record<string, unknown>>,
  ): void
  end(): void
}

type Step = { step: number; title: string; asked: string; happened: string[]; details: object[] }

/** A readable story, or one JSON object per step. */
export function createDemoLog(json: boolean, write: (line: string) => void): DemoLog {
  let count = 0
  let current: Step | null = null
  const flush = () => {
    if (current !== null && json) write(JSON.stringify(current))
    current = null
  }
  return {
    step(title, asked) {
      flush()
      count += 1
      current = { step: count, title, asked, happened: [], details: [] }
      if (!json) write(`\n${colors.bold(`${count}. ${title}`)}\n   ${colors.dim('→')} ${asked}`)
    },
    happened(text, fields = {}) {
      current?.happened.push(text)
      if (Object.keys(fields).length > 0) current?.details.push({ kind: 'answer', ...fields })
      if (!json) write(`   ${colors.green('✓')} ${text}`)
    },
    detail(kind, text, fields = {}) {
      current?.details.push({ kind, text, ...fields })
      if (!json) write(`       ${colors.cyan(kind.padEnd(7))} ${text}`)
    },
    end: flush,
  }
}
