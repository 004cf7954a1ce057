import t from 'tap'
import { answersSentBack } from './clients/answers-sent-back.ts'
import { startClientsWorld } from './clients/clients-world.ts'
import { oddIds } from './clients/odd-ids.ts'
import { shownExamples } from './clients/shown-examples.ts'

t.test('the product as real clients meet it', async (t) => {
  const world = await startClientsWorld(t)
  await t.test('what we answer can be sent back', (t) => answersSentBack(t, world))
  await t.test('what can be created can be acted on', (t) => oddIds(t, world))
  await t.test('examples look as answers do', (t) => shownExamples(t, world))
})
