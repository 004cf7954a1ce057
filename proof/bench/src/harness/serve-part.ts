/** The other end of `startPart`: says that it is ready, answers each message, ends when its starter does. */
export function servePart(ready: object, answer: (message: unknown) => Promise<object>): void {
  const send = (value: object) => process.send?.(value)
  process.on('message', (message) => {
    answer(message).then(send, (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
      process.exit(1)
    })
  })
  process.once('disconnect', () => process.exit(0))
  send(ready)
}

/** An environment variable that the starter gave. @throws Error naming it when it is absent. */
export function given(name: string): string {
  const value = process.env[name]
  if (value === undefined) throw new Error(`${name} is not set`)
  return value
}
