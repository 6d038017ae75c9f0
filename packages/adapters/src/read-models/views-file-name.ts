/** The file of the read models in the data folder. */
export const viewsFileName = 'views.db'
