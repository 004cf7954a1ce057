import { Snippet } from '../parts/snippet.tsx'

const program = `// receiver.mjs
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const secret = process.env.WEBHOOK_SECRET ?? ''

createServer((request, response) => {
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const body = Buffer.concat(chunks)
    const timestamp = String(request.headers['x-svc-timestamp'])
    const signatures = String(request.headers['x-svc-signature']).split(' ')
    const wanted = createHmac('sha256', secret).update(timestamp + '.').update(body).digest()
    const isFresh = Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300
    const isOurs = signatures.some((signature) => {
      const sent = Buffer.from(signature.replace('v1=', ''), 'hex')
      return sent.length === wanted.length && timingSafeEqual(sent, wanted)
    })
    if (!isFresh || !isOurs) return response.writeHead(401).end()
    // Store the event here, once for each x-svc-event-id, then answer.
    console.log(request.headers['x-svc-event-type'], body.toString())
    response.writeHead(204).end()
  })
}).listen(Number(process.env.PORT ?? 4040), '127.0.0.1')
`

/** A whole receiver that verifies what it gets, to run and to take over. */
export function ReceiverExample() {
  return (
    <Snippet title="A receiver that verifies signatures, in Node" text={program}>
      <p>
        Save it as <code>receiver.mjs</code> and run <code>node receiver.mjs</code> with the endpoint's
        signing secret in <code>WEBHOOK_SECRET</code> and the port of its address in <code>PORT</code>. The
        signature is over the bytes as they came: verify first, parse afterwards.
      </p>
    </Snippet>
  )
}
