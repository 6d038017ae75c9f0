import type { Tab } from './open-page.js'

/** Presses every button of the page itself, and confirms nothing. The titles of the dialogs that opened, each closed again. */
export const pressAll = ({ page }: Tab): Promise<ReadonlyArray<string>> =>
  page.evaluate(async () => {
    const painted = (): Promise<unknown> => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    const opened: Array<string> = []
    for (const button of document.querySelectorAll<HTMLButtonElement>('main button')) {
      button.click()
      await painted()
      // Some ask the server first, to how many it will be done.
      for (let i = 0; i < 900 && document.querySelector('main [aria-busy="true"]') !== null; i++) await painted()
      await painted()
      const dialog = document.querySelector<HTMLDialogElement>('dialog[open]')
      if (dialog === null) continue
      opened.push(dialog.querySelector('h2')?.textContent ?? '')
      dialog.close()
      await painted()
    }
    return opened
  })

/** Dialogs that only save what anybody may read as a file. */
export const isExport = (title: string): boolean => title.startsWith('Export ')
