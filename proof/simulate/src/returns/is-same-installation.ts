import type { Counted } from './count-alarms.ts'
import { installation, type Watched } from './watch-installation.ts'

type Written = {
  readonly shape: string
  readonly position: number
  readonly evidence: { readonly counts: readonly number[]; readonly log: number }
  readonly alarmedAt: number | null
}

/**
 * Whether both ways of watching one installation came to the same alarms, counts and scores, to the last
 * digit.
 */
export function isSameInstallation(watched: Watched, counted: Counted): boolean {
  const { chances, accounts } = installation
  const streams: readonly (readonly [string, Written])[] = JSON.parse(watched.streams)
  const shapes = [...chances.map((chance) => `chance ${chance}`), 'draws']
  return (
    watched.alarms === counted.alarms &&
    watched.firstAt === counted.firstAt &&
    streams.length === (1 + accounts) * shapes.length &&
    streams.every(([key, { shape, position, evidence, alarmedAt }]) => {
      const owner = key.startsWith('*') ? 0 : 1 + Number(key.split('|')[0])
      const same = counted.streams[owner * shapes.length + shapes.indexOf(shape)]
      return (
        same?.position === position &&
        same.log === evidence.log &&
        same.alarmedAt === alarmedAt &&
        String(same.counts) === String(evidence.counts)
      )
    })
  )
}
