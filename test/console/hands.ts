/** What a person does on a page: presses, fills in a dialog, reads what is said of it. And what the log says then. */
import type { Locator } from 'playwright-core'
import type { DaybookClient } from '@daybook/adapters/client'
import type { Tab } from './open-page.js'

export interface Filled {
  readonly reason?: string
  /** By name of the field. */
  readonly fields?: Readonly<Record<string, string>>
}

export interface Hands {
  readonly dialog: Locator
  /** Presses a button of the page itself, the first with this text. */
  readonly press: (name: RegExp) => Promise<void>
  /** The one thing of a list that is about this name. */
  readonly about: (name: string) => Locator
  /** Fills in the open dialog and presses the button with this text; then waits for what is said of it. */
  readonly confirm: (verb: RegExp, said: RegExp, filled?: Filled) => Promise<void>
  /** The event of this type that the page says it has become, as it stands in the log. */
  readonly became: (type: string, admin: DaybookClient) => Promise<LoggedEvent>
}

export type LoggedEvent = Awaited<ReturnType<DaybookClient['events']>>['events'][number]

export const handsOf = ({ page }: Tab): Hands => {
  const dialog = page.locator('dialog[open]')
  return {
    dialog,
    press: (name) => page.locator('main').getByRole('button', { name }).first().click(),
    about: (name) => page.locator('main li.panel, main tr').filter({ hasText: name }).first(),
    confirm: async (verb, said, { reason, fields = {} } = {}) => {
      await dialog.waitFor()
      for (const [name, value] of Object.entries(fields)) {
        const field = dialog.locator(`[name="field-${name}"]`)
        if ((await field.evaluate(({ tagName }) => tagName)) === 'SELECT') await field.selectOption(value)
        else await field.fill(value)
      }
      if (reason !== undefined) await dialog.locator('[name="reason"]').fill(reason)
      const refused = dialog.getByRole('alert')
      const wasRefused = await refused.isVisible()
      await dialog.getByRole('button', { name: verb }).click()
      if (wasRefused) await refused.waitFor({ state: 'detached' })
      const notice = page.locator('.notice').getByText(said)
      await notice.or(refused).first().waitFor()
      if (await refused.isVisible()) throw new Error(`refused: ${(await refused.textContent()) ?? ''}`)
      await notice.waitFor()
    },
    became: async (type, admin) => {
      const link = page.locator('.notice').getByRole('link', { name: new RegExp(`^${type} \\d+$`) })
      await link.waitFor()
      const revision = Number((await link.textContent())?.split(' ')[1])
      const [event] = (await admin.events({ from: revision, limit: 1 })).events
      if (event === undefined) throw new Error(`the log has no event ${revision}`)
      return event
    },
  }
}
