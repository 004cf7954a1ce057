import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t from 'tap'
import { ask } from '../fixtures/ask.ts'
import { startWorld } from '../fixtures/start-world.ts'
import { ids } from '../fixtures/test-ids.ts'

const unlimited = '1000000'
const paths = ['/v1/public/verify', `/v1/public/wallet-callbacks/${ids.operator}/TEST`]

/** Sockets of one address that announce a body and send none; each is connected and has sent its headers. */
async function openIdle(port: number, count: number, localAddress: string): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => connect({ port, host: '127.0.0.1', localAddress }))
  await Promise.all(
    sockets.map(async (socket, index) => {
      socket.on('error', () => undefined)
      await once(socket, 'connect')
      socket.write(
        `POST ${paths[index % paths.length]} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n`,
      )
      socket.resume()
    }),
  )
  return sockets
}

/** A stake, a read and a token of another client; all of them from 127.0.0.1. */
async function playBeside(world: Awaited<ReturnType<typeof startWorld>>): Promise<number[]> {
  const token = await world.operatorToken()
  const answers = await Promise.all(
    Array.from({ length: 10 }, async () => [
      await ask(`${world.url}/v1/sessions`, { method: 'POST', token, body: session }),
      await ask(`${world.url}/v1/games`, { token }),
      await ask(`${world.url}/v1/auth/token`, {
        method: 'POST',
        body: { api_key: ids.testKey, api_secret: 'right' },
      }),
    ]),
  )
  return [...new Set(answers.flat().map(({ status }) => status))].toSorted((a, b) => a - b)
}

const session = { player_id: 'p', game: 'dice', currency: 'EUR' }

await t.test('3,000 idle bodies of one address leave everybody else alone', async (t) => {
  const world = await startWorld(t)
  const idle = await openIdle(Number(new URL(world.url).port), 3000, '127.0.0.2')
  t.same(await playBeside(world), [200, 201])
  for (const socket of idle) socket.destroy()
})

await t.test('3,000 idle bodies of 30 addresses do as well, however fast they come', async (t) => {
  const world = await startWorld(t, {
    PITBOSS_LIMIT_ADDRESS_PER_S: unlimited,
    PITBOSS_LIMIT_ADDRESS_BURST: unlimited,
  })
  const { port } = new URL(world.url)
  const addresses = Array.from({ length: 30 }, (_, index) => `127.0.0.${index + 2}`)
  const idle = await Promise.all(addresses.map((address) => openIdle(Number(port), 100, address)))
  t.same(await playBeside(world), [200, 201])
  for (const socket of idle.flat()) socket.destroy()
})
