import{_catchError}from"./diff/catch-error";const options={_catchError};export default options;
