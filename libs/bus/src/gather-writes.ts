/**
 * Gathers the writes of one turn of the event loop: the client writes to its socket after each step of a
 * turn, and a write of a socket costs more than what it carries. Source: ours.
 * @returns `write`, which runs `send` at the end of this turn and resolves then, or rejects with what it
 * threw, and `flush`, which runs at once what waits
 */
export function gatherWrites() {
  let waiting: (() => void)[] = []
  const flush = () => {
    const sends = waiting
    waiting = []
    for (const send of sends) send()
  }
  const write = (send: () => void) =>
    new Promise<void>((resolve, reject) => {
      const run = () => {
        try {
          resolve(send())
        } catch (error) {
          reject(error)
        }
      }
      if (waiting.push(run) === 1) setImmediate(flush)
    })
  return { write, flush }
}
