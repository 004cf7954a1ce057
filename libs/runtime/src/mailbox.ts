import { tryAgain } from '@pitboss/errors/service-error'

/** Work that may wait for one key, as long as its callers do: settlement is never shed, memory is bounded. */
const waitingMax = 10_000

export type Mailbox = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>

/**
 * Runs work of one key one at a time, in the order in which it came; other keys are not held up. It only
 * saves lost work: the version fence of the document decides, also between replicas.
 * @throws ServiceError SERVICE_UNAVAILABLE when too much waits for one key.
 */
export function createMailbox(): Mailbox {
  const boxes = new Map<string, { tail: Promise<unknown>; waiting: number }>()

  return async function post(key, work) {
    const box = boxes.get(key) ?? { tail: Promise.resolve(), waiting: 0 }
    if (box.waiting >= waitingMax) throw tryAgain()
    boxes.set(key, box)
    box.waiting += 1
    const result = box.tail.then(work, work)
    box.tail = result.catch(() => undefined)
    try {
      return await result
    } finally {
      box.waiting -= 1
      if (box.waiting === 0) boxes.delete(key)
    }
  }
}
