import { Gauge, Registry } from 'prom-client'
import t from 'tap'
import { createScrape } from '../src/scrape.ts'

t.test('a metric that cannot be had is left out and counted, and all others are there', async (t) => {
  const registry = new Registry()
  registry.setDefaultLabels({ service: 'probe' })
  const gauge = (name: string, collect: () => Promise<number>) =>
    new Gauge({
      name,
      help: name,
      registers: [registry],
      async collect() {
        this.set(await collect())
      },
    })
  gauge('good', async () => 7)
  gauge('broken', () => Promise.reject(new Error('the database is away')))
  gauge('silent', () => new Promise(() => undefined))
  const scrape = createScrape(registry, 20)
  for (const times of [1, 2]) {
    const text = await scrape()
    t.match(text, /^good\{service="probe"\} 7$/m)
    t.notMatch(text, /^(broken|silent)/m)
    for (const metric of ['broken', 'silent'])
      t.match(
        text,
        new RegExp(`^pitboss_metrics_left_out_total\\{metric="${metric}",service="probe"\\} ${times}$`, 'm'),
      )
  }
})
