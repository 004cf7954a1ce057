import { randomBytes } from 'node:crypto'
import t from 'tap'
import { samplesClientTrace, samplesOwnTrace, samplingRuleOf } from '../src/sampling-rule.ts'

t.test('the names of samplers mean what OpenTelemetry says', (t) => {
  t.strictSame(samplingRuleOf('always_on', 0.5), { ratio: 1, hearsClients: false })
  t.strictSame(samplingRuleOf('always_off', 0.5), { ratio: 0, hearsClients: false })
  t.strictSame(samplingRuleOf('traceidratio', 0.5), { ratio: 0.5, hearsClients: false })
  t.strictSame(samplingRuleOf('parentbased_always_on', 0.5), { ratio: 1, hearsClients: true })
  t.strictSame(samplingRuleOf('parentbased_always_off', 0.5), { ratio: 0, hearsClients: true })
  t.strictSame(samplingRuleOf('parentbased_traceidratio', 0.5), { ratio: 0.5, hearsClients: true })
  t.end()
})

t.test('a share of our own traces is recorded, and of all or none exactly that', (t) => {
  const ids = Array.from({ length: 20_000 }, () => randomBytes(16).toString('hex'))
  const shareOf = (ratio: number) =>
    ids.filter((id) => samplesOwnTrace({ ratio, hearsClients: true }, id)).length / ids.length
  t.equal(shareOf(0), 0)
  t.equal(shareOf(1), 1)
  // 8 standard deviations of 20,000 draws.
  t.ok(Math.abs(shareOf(0.1) - 0.1) < 8 * Math.sqrt((0.1 * 0.9) / ids.length))
  t.equal(samplesOwnTrace({ ratio: 1, hearsClients: true }, 'f'.repeat(32)), true)
  t.equal(samplesOwnTrace({ ratio: 0.999, hearsClients: true }, 'f'.repeat(32)), false)
  t.end()
})

t.test("a client's wish counts within the bound, and neither its id nor its flag forces more", (t) => {
  let left = 2
  const mayForce = () => left-- > 0
  const rule = samplingRuleOf('parentbased_always_off', 0)
  const wishes = Array.from({ length: 5 }, () =>
    samplesClientTrace(rule, { wished: true, mayForce, draw: 0 }),
  )
  t.strictSame(wishes, [true, true, false, false, false])

  left = 2
  t.equal(samplesClientTrace(rule, { wished: false, mayForce, draw: 0 }), false)
  const deaf = samplingRuleOf('always_off', 0)
  t.equal(samplesClientTrace(deaf, { wished: true, mayForce, draw: 0 }), false)
  t.equal(left, 2, 'nothing of the bound is spent on what is not heard')

  const tenth = samplingRuleOf('parentbased_traceidratio', 0.1)
  t.equal(samplesClientTrace(tenth, { wished: true, mayForce, draw: 0.05 }), true)
  t.equal(left, 2, 'nor on what chance has chosen anyway')
  t.equal(samplesClientTrace(tenth, { wished: false, mayForce, draw: 0.1 }), false)
  t.end()
})
