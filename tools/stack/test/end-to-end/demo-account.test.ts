import { send } from '@pitboss/testing/operator-client'
import { sharedStack } from '@pitboss/testing/shared-stack'
import t from 'tap'
import { playedBrand, secondPerson, stoppedPlayers } from '../../src/demo/chapters/account.ts'
import { createDemoLog } from '../../src/demo/demo-log.ts'
import { createTour } from '../../src/demo/tour.ts'

t.test('the tour leaves people, approvals, a brand and stops, and the account as it was', async (t) => {
  const stack = await sharedStack(t)
  const demo = stack.demo()
  const { tour, undo } = await createTour(
    demo,
    stack.dataDir,
    createDemoLog(true, () => undefined),
  )
  const { body: login } = await send('POST', `${tour.api}/dashboard/login`, { body: demo.dashboard })
  const owner = String(login.access_token)
  const get = async (path: string) => (await send('GET', `${tour.api}/${path}`, { token: owner })).body
  const { body: mint } = await send('POST', `${tour.api}/auth/token`, { body: demo.test })
  tour.token = String(mint.access_token)
  const before = await get('business')
  const games = await get('dashboard/games')
  for (const chapter of [secondPerson, stoppedPlayers, playedBrand]) await chapter(tour)
  for (const step of undo.toReversed()) await step()

  t.match(await get('dashboard/users'), {
    data: [{ role: 'VIEWER', status: 'INVITED' }, { role: 'DEVELOPER', status: 'ACTIVE' }, { role: 'OWNER' }],
  })
  t.match(await get('dashboard/approvals'), {
    data: [
      { act: 'business.change', status: 'DONE' },
      { act: 'game.change', status: 'REJECTED' },
      { act: 'credential.delete', status: 'DONE' },
    ],
  })
  t.match(await get(`dashboard/players/demo-${tour.run}-rests/stops`), { data: [{ status: 'IN_FORCE' }] })
  t.match(await get(`dashboard/players/demo-${tour.run}-is-back/stops`), { data: [{ status: 'LIFTED' }] })
  const { data: brands } = await get('dashboard/brands')
  t.match(brands, [{ name: `Demo Casino North ${tour.run}` }])
  t.strictSame(await get('business'), before, 'nobody needs a second person any more')
  t.strictSame(await get('dashboard/games'), games, 'the game is on')
  const keys = JSON.stringify(await get('dashboard/credentials?environment=LIVE'))
  t.notMatch(keys, `Leaves ${tour.run}`, 'the key that was made to be deleted is gone')
})
