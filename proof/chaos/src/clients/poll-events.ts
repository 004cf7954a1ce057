import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { type ClientDeps, rest } from './client.ts'

const page = z.object({ data: z.array(z.looseObject({ id: z.string() })), next_cursor: z.string() })

const refusedMax = 50
const refusedRestMs = 200

export type Poller = {
  /** The events in the order in which the poller met them. */
  ids: string[]
  /** Reads on until nothing follows. */
  catchUp(): Promise<void>
}

/** A poller of `GET /v1/events` that only ever follows its cursor. */
export function pollEvents(deps: ClientDeps): { poller: Poller; done: Promise<void> } {
  const ids: string[] = []
  let cursor: string | null = null
  const readPage = async (): Promise<number | null> => {
    const at: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const answer = await deps.operator.call('GET', `/events?limit=100${at}`)
    if (answer.status !== 200) return null
    const { data, next_cursor } = page.parse(answer.body)
    ids.push(...data.map(({ id }) => id))
    cursor = next_cursor
    return data.length
  }
  const loop = async () => {
    while (!deps.stopping.aborted) if ((await readPage()) !== 100) await rest(deps, 20, 120)
  }
  return {
    poller: {
      ids,
      async catchUp() {
        for (let refused = 0; refused < refusedMax; ) {
          const read = await readPage()
          if (read === 0) return
          if (read === null) {
            refused++
            await delay(refusedRestMs)
          }
        }
        throw new Error(`GET /v1/events was refused ${refusedMax} times`)
      },
    },
    done: loop(),
  }
}
