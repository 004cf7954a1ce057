/** One server-sent event of the tail. */
export type TailFrame = { readonly event: string; readonly data: string }

/** Most characters of a frame; the gateway's are far shorter. */
const frameCharactersMax = 256 * 1024

/**
 * The frames of a body, as they come; comments, which keep the connection open, are left out.
 * @throws RangeError for a frame without an end
 */
export async function* framesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<TailFrame> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const texts = (rest + decoder.decode(value, { stream: true })).split('\n\n')
      rest = texts.pop() ?? ''
      if (rest.length > frameCharactersMax) throw new RangeError('the frame has no end')
      for (const text of texts) {
        const frame = frameOf(text)
        if (frame !== null) yield frame
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

function frameOf(text: string): TailFrame | null {
  const fields = new Map(
    text.split('\n').map((line) => [line.split(': ')[0] ?? '', line.split(': ').slice(1).join(': ')]),
  )
  const [event, data] = [fields.get('event'), fields.get('data')]
  return event === undefined || data === undefined ? null : { event, data }
}
