import { waitFor } from '@pitboss/testing/wait-for'
import type { Test } from 'tap'
import type { AccessWorld } from './access-world.ts'

const services = ['rounds', 'wallet-bridge', 'webhooks', 'auth'] as const
/** 5 s of silence, a heartbeat's second and a busy machine. */
const silenceMs = 15_000

/**
 * `/readyz` while a service stands still: SIGSTOP keeps its connections, so only its silence can be noticed.
 */
export async function readinessChapter(t: Test, world: AccessWorld): Promise<void> {
  const { send, mint, stack } = world
  const pidOf = (name: string) => stack.demo().processes.find((each) => each.name === name)?.pid ?? 0
  const probePort = async () => {
    const gateway = stack.demo().processes.find((each) => each.name === 'gateway')
    return (await fetch(`${gateway?.http_url}/readyz`)).status
  }
  const ready = async () => (await send('GET', '/readyz')).status === 200

  for (const service of services) {
    await t.test(`/readyz is 503 and names ${service} while it does not answer`, async (t) => {
      const token = await mint()
      const pid = pidOf(service)
      process.kill(pid, 'SIGSTOP')
      try {
        const body = await waitFor(
          async () => {
            const said = await send('GET', '/readyz')
            return said.status === 503 ? said.body : null
          },
          { timeoutMs: silenceMs, what: '/readyz to notice' },
        )
        t.match(body, { code: 'SERVICE_UNAVAILABLE', retryable: true, message: new RegExp(service) })
        t.match(body.details, [{ path: service, message: 'does not answer' }])
        t.equal((await send('GET', '/healthz')).status, 200, 'the gateway lives')
        t.equal(await probePort(), 200, 'its probe port keeps it in the load balancer')
        if (service === 'auth') {
          const refused = await waitFor(
            async () => {
              const said = await send('GET', '/v1/games', { token })
              return said.status === 503 ? said : null
            },
            { timeoutMs: silenceMs, what: 'tokens to be refused without heartbeats' },
          )
          t.equal(refused.code, 'SERVICE_UNAVAILABLE')
          await waitFor(
            async () => {
              const details = JSON.stringify((await send('GET', '/readyz')).body.details)
              return details.includes('revocation-bucket') && details.includes('auth')
            },
            { timeoutMs: silenceMs, what: '/readyz to name the silent bucket too' },
          )
          t.equal(await probePort(), 200, 'a silent bucket is no reason to leave')
        }
      } finally {
        process.kill(pid, 'SIGCONT')
      }
      await waitFor(ready, { timeoutMs: silenceMs, what: 'the gateways to be ready again' })
    })
  }
}
