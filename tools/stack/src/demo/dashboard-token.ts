import { z } from 'zod'
import { expectAnswer } from './demo-http.ts'
import type { Tour } from './tour.ts'

/** Signs the demo operator's owner in, once per tour. */
export async function dashboardToken(tour: Tour): Promise<string> {
  tour.person ??= (
    await expectAnswer(
      200,
      z.looseObject({ access_token: z.string() }),
      'POST',
      `${tour.api}/dashboard/login`,
      { body: tour.demo.dashboard },
    )
  ).access_token
  return tour.person
}
